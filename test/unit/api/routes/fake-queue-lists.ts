import { hourOf } from '../../../../src/domain/jobs/queues/queue-hour.ts'
import type { ReadySplit } from '../../../../src/domain/jobs/queues/ready-split.ts'
import type { QueueLists, QueueRow } from '../../../../src/ports/live/queue-lists.ts'
import type { Queue } from '../../../../src/ports/queues.ts'

const NONE = { jobs: 0, queues: 0 }

export const A_SPLIT: ReadySplit = {
  startable: 1,
  stopped: { reason: 'at_limit', jobs: 2 },
  oldestStartableMs: 41_500,
}

/** Lists of one queue, of which one ready job may start and two are stopped. */
export function fakeQueueLists(queue: Queue): QueueLists {
  const row: QueueRow = { ...queue, split: A_SPLIT, lastHour: hourOf(new Map(), 0) }
  const summary = {
    queues: 1,
    isComplete: true,
    startable: 1,
    stopped: { paused: NONE, held: NONE, throttled: NONE, at_limit: { jobs: 2, queues: 1 } },
    oldestStartable: { ageMs: 41_500, queueId: queue.queueId, name: queue.name },
  }
  return {
    list: ({ sort }) =>
      Promise.resolve({ rows: [row], nextCursor: null, summary: sort === 'name' ? null : summary }),
    named: (_team, name) =>
      Promise.resolve({ rows: name === queue.name ? [row] : [], nextCursor: null, summary: null }),
  }
}
