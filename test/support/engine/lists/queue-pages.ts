import type { QueueRow } from '../../../../src/ports/live/queue-lists.ts'
import { NO_WINDOWS } from '../../../../src/ports/windows.ts'
import type { Engine } from '../../../../src/redis/base/engine/engine.ts'
import { createQueueLists } from '../../../../src/redis/watch/queue-lists/queue-lists.ts'

interface Asked {
  readonly team: string
  readonly limit: number
  readonly cursor: string | null
}

/** Reads pages of the queues of a team by name. */
export function queuePages(
  engine: Engine,
): (
  asked: Asked,
) => Promise<{ readonly queues: readonly QueueRow[]; readonly nextCursor: string | null } | 'bad_cursor'> {
  const lists = createQueueLists(engine, NO_WINDOWS)
  return async ({ team, limit, cursor }) => {
    const page = await lists.list({ team, limit, cursor, text: null, sort: 'name', may: () => true })
    return page === 'bad_cursor' ? page : { queues: page.rows, nextCursor: page.nextCursor }
  }
}
