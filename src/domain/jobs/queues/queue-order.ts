import type { ThrottleReason } from '../flow.ts'
import type { QueueHour } from './queue-hour.ts'
import type { ReadySplit } from './ready-split.ts'

/** How a list of queues is sorted. */
export const QUEUE_SORTS = ['name', 'trouble', 'oldest', 'failed'] as const
export type QueueSort = (typeof QUEUE_SORTS)[number]

/** What a queue is sorted by. */
export interface OrderFacts {
  readonly name: string
  readonly dead: number
  readonly throttled: ThrottleReason | null
  readonly split: ReadySplit
  readonly hour: Pick<QueueHour, 'ended' | 'failed'>
}

/** A place in a sorted list: higher numbers come first, and of equal ones the lower name. */
export type OrderKey = readonly [rank: number, size: number, name: string]

/** A startable job that waits so long is worth a look, and so long a fault. */
const LATE_MS = 10_000
const TOO_LATE_MS = 60_000
/** A part of failed jobs above which a queue is at fault. */
const TOO_MANY_FAILED = 0.05

export function orderKey(sort: Exclude<QueueSort, 'name'>, facts: OrderFacts): OrderKey {
  const { name, split, hour } = facts
  if (sort === 'failed') return [share(hour), hour.failed, name]
  if (sort === 'oldest') return [split.oldestStartableMs ?? -1, split.stopped?.jobs ?? 0, name]
  return [troubleOf(facts), sizeOf(facts), name]
}

function share({ ended, failed }: OrderFacts['hour']): number {
  return ended === 0 ? 0 : failed / ended
}

/** What fails or is late comes first, then what is stopped, then what has dead letters or is at its limit. */
function troubleOf({ dead, throttled, split, hour }: OrderFacts): number {
  const lateMs = split.oldestStartableMs ?? 0
  if (share(hour) > TOO_MANY_FAILED || lateMs >= TOO_LATE_MS || throttled === 'circuit_open') return 4
  if (hour.failed > 0 || lateMs >= LATE_MS) return 3
  const { stopped } = split
  if (stopped !== null && stopped.reason !== 'at_limit') return 2
  return dead > 0 || stopped !== null ? 1 : 0
}

/** Of what is equally bad, the larger part of failed jobs or the longer wait, then the more jobs. */
function sizeOf({ dead, split, hour }: OrderFacts): number {
  const worst = Math.max(share(hour), Math.min(1, (split.oldestStartableMs ?? 0) / 3_600_000))
  return worst > 0 ? worst : ((split.stopped?.jobs ?? 0) + dead) / 1e12
}

export function compareKeys(one: OrderKey, other: OrderKey): number {
  return other[0] - one[0] || other[1] - one[1] || (one[2] < other[2] ? -1 : one[2] > other[2] ? 1 : 0)
}
