import type { QueueHour } from '../../../domain/jobs/queues/queue-hour.ts'
import {
  compareKeys,
  orderKey,
  type OrderKey,
  type QueueSort,
} from '../../../domain/jobs/queues/queue-order.ts'
import type { StopReason } from '../../../domain/jobs/queues/ready-split.ts'
import type {
  QueueListQuery,
  QueueLists,
  QueueRow,
  QueueRows,
  QueueSummary,
  StoppedSum,
} from '../../../ports/live/queue-lists.ts'
import type { WindowSource } from '../../../ports/windows.ts'
import type { Engine } from '../../base/engine/engine.ts'
import type { KnownQueue } from '../../base/names/known-queue.ts'
import { formatCursor, type ListScope, parseCursor } from '../../base/names/list-cursor.ts'
import { type NamesBegin, queueNamed, teamNames } from '../../base/names/team-names.ts'
import { readySplitOf } from '../../jobs/queues/queue-parts.ts'
import { isQueueHeld } from '../../jobs/queues/queue-stats.ts'
import { readQueuesWithParts } from '../../jobs/queues/queue-reader.ts'
import { askedFor, type ListWorld, lookAtAll, type LookedAt, QUEUES_LOOKED_MAX } from './look-at-all.ts'
import { QueueHours } from './queue-hours.ts'

/** One line of the log has at most this many names. */
const DAMAGED_NAMED_MAX = 5

/** @param windows these hold queues, whose jobs are stopped */
export function createQueueLists(engine: Engine, windows: WindowSource): QueueLists {
  const world: ListWorld = {
    engine,
    hours: new QueueHours(engine),
    isHeld: ({ keys, team, name }) =>
      isQueueHeld(windows, { team, name, nowMs: engine.runner.redisNowMs(keys.shard) }),
  }
  return {
    list: (query) => {
      const { sort, ...others } = query
      return sort === 'name' ? byName(world, query) : sorted(world, { sort, ...others })
    },
    named: async (team, name) => {
      const queue = await queueNamed(engine, team, name)
      const rows = queue === null ? [] : await rowsOf(world, [queue])
      return { rows, nextCursor: null, summary: null }
    },
  }
}

async function byName(world: ListWorld, query: QueueListQuery): Promise<QueueRows | 'bad_cursor'> {
  const { team, text, limit, cursor } = query
  const scope: ListScope = text === null ? ['queues', team] : ['queues', team, text]
  const after = cursor === null ? null : parseCursor(scope, cursor)
  if (after === null && cursor !== null) return 'bad_cursor'
  const looked = text === null ? limit : QUEUES_LOOKED_MAX
  const begin: NamesBegin = after === null ? '-' : `(${after}`
  const found = await teamNames(world.engine, { kind: 'queues', team, begin, limit: looked + 1 })
  const names = found.slice(0, looked)
  const asked = names.filter(askedFor(query))
  const page = asked.slice(0, limit)
  const isCut = asked.length > page.length
  const last = isCut ? page.at(-1) : names.at(-1)
  const isMore = isCut || found.length > looked
  return {
    rows: await rowsOf(
      world,
      page.map(({ keys, id, name }) => ({ keys, localId: id, team, name })),
    ),
    nextCursor: isMore && last !== undefined ? formatCursor(scope, last.name) : null,
    summary: null,
  }
}

/** A page begins behind the key of the last row before it, so rows that have moved meanwhile may be missed or come twice. */
async function sorted(
  world: ListWorld,
  query: QueueListQuery & { readonly sort: Exclude<QueueSort, 'name'> },
): Promise<QueueRows | 'bad_cursor'> {
  const { team, text, sort, limit, cursor } = query
  const scope: ListScope = ['queues', team, text, sort]
  const after = cursor === null ? null : keyIn(parseCursor(scope, cursor))
  if (after === null && cursor !== null) return 'bad_cursor'
  const looked = await lookAtAll(world, query)
  const ordered = looked.looks
    .map((look) => ({ look, key: orderKey(sort, look) }))
    .filter(({ key }) => after === null || compareKeys(after, key) < 0)
    .toSorted((one, other) => compareKeys(one.key, other.key))
  const page = ordered.slice(0, limit)
  const last = page.at(-1)
  return {
    rows: await rowsOf(
      world,
      page.map(({ look }) => look.queue),
    ),
    nextCursor:
      ordered.length > limit && last !== undefined ? formatCursor(scope, JSON.stringify(last.key)) : null,
    summary: summaryOf(looked),
  }
}

function summaryOf({ looks, isComplete }: LookedAt): QueueSummary {
  const stopped = looks.flatMap(({ split }) => split.stopped ?? [])
  const of = (reason: StopReason): StoppedSum => {
    const queues = stopped.filter((one) => one.reason === reason)
    return { queues: queues.length, jobs: queues.reduce((sum, { jobs }) => sum + jobs, 0) }
  }
  const waiting = looks.flatMap(({ queueId, name, split: { oldestStartableMs: ageMs } }) =>
    ageMs === null ? [] : [{ ageMs, queueId, name }],
  )
  return {
    queues: looks.length,
    isComplete,
    startable: looks.reduce((sum, { split }) => sum + split.startable, 0),
    stopped: { paused: of('paused'), held: of('held'), throttled: of('throttled'), at_limit: of('at_limit') },
    oldestStartable: waiting.toSorted((one, other) => other.ageMs - one.ageMs)[0] ?? null,
  }
}

/** null = the position is of no key. The cursor is ours, as its hash says, but another version may have written it. */
function keyIn(position: string | null): OrderKey | null {
  if (position === null) return null
  try {
    const key: unknown = JSON.parse(position)
    if (!Array.isArray(key)) return null
    const [rank, size, name] = key as unknown[]
    return typeof rank === 'number' && typeof size === 'number' && typeof name === 'string'
      ? [rank, size, name]
      : null
  } catch {
    return null
  }
}

async function rowsOf(world: ListWorld, queues: readonly KnownQueue[]): Promise<QueueRow[]> {
  const { engine, hours } = world
  const read = await readQueuesWithParts(engine, queues)
  const damaged = queues.filter((_, i) => read[i]?.queue === 'damaged').map(({ name }) => name)
  if (damaged.length > 0) {
    const named = damaged.slice(0, DAMAGED_NAMED_MAX)
    const team = queues[0]?.team
    engine.logger.warn('Queues cannot be read and are not listed', {
      team,
      count: damaged.length,
      queues: named,
    })
  }
  const shown = read.flatMap(({ queue, parts }, i) =>
    queue === null || queue === 'damaged' || parts === null
      ? []
      : [{ queue, parts, known: queues[i] as KnownQueue }],
  )
  const lastHours = await hoursOf(
    hours,
    shown.map(({ known }) => known),
  )
  return shown.map(({ queue, parts, known }, i) => ({
    ...queue,
    split: readySplitOf(parts, world.isHeld(known)),
    lastHour: lastHours[i] as QueueHour,
  }))
}

/** Reads the shards at once, and answers in the order asked. */
async function hoursOf(hours: QueueHours, queues: readonly KnownQueue[]): Promise<QueueHour[]> {
  const found = new Map<KnownQueue, QueueHour>()
  await Promise.all(
    [...Map.groupBy(queues, ({ keys }) => keys)].map(async ([keys, ofShard]) => {
      const localIds = ofShard.map(({ localId }) => localId)
      const read = await hours.of(keys, localIds)
      ofShard.forEach((queue, i) => found.set(queue, read[i] as QueueHour))
    }),
  )
  return queues.map((queue) => found.get(queue) as QueueHour)
}
