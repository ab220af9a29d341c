import { isDeepStrictEqual } from 'node:util'
import type { Informer, ObjectKey } from '../../ports/kubernetes.ts'
import type { ControllerMetrics, ReadyCounts } from '../../ports/metrics.ts'
import type { QueueStats, QueueStatsEntry } from '../../ports/queues.ts'
import { THROTTLE_REASONS, type ThrottleReason } from '../../domain/jobs/flow.ts'
import { STOP_REASONS, type StopReason } from '../../domain/jobs/queues/ready-split.ts'
import type { Clock, Logger } from '../../ports/runtime.ts'
import { ownerOf, parseKey, queueKeyOf } from '../../resources/queue-owner.ts'
import { BY_QUEUE, type HttpQueue } from '../kinds.ts'
import { isFailureStale } from './queue-failure.ts'
import { isLossStale } from './queue-loss.ts'
import { isThrottleStale } from './queue-throttle.ts'
import { StatusSync, SYNC_EVERY_MS } from '../reconcile/status-sync.ts'

/** Counts the jobs of all queues that have a resource. */
export function createQueueStatusSync(parts: {
  readonly informer: Pick<Informer<HttpQueue>, 'all' | 'byIndex'>
  readonly queueStats: Pick<QueueStats, 'count'>
  readonly enqueue: (key: ObjectKey) => void
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Pick<ControllerMetrics, 'queuesCounted' | 'queuesThrottled' | 'readyJobsCounted'>
}): StatusSync<QueueStatsEntry> {
  const { informer, queueStats, clock, metrics } = parts
  return new StatusSync({
    ...parts,
    keys: () => [...new Set([...informer.all()].map(queueKeyOf))],
    read: (keys) => queueStats.count(keys.map(parseKey)),
    isStale: (key, { queueId, counts, oldestReadyMs, lastFailure, lostJobs, throttle }) => {
      const owner = ownerOf(informer.byIndex(BY_QUEUE, key))
      const status = owner?.status
      // Without this id the queue is not applied yet; its first status brings the counts.
      if (owner === undefined || status?.queueId !== queueId) return false
      const isSame =
        isDeepStrictEqual(status.counts, counts) &&
        isSameOldest(status.oldestReadyTime, oldestReadyMs, clock.wallMs()) &&
        !isFailureStale(owner, lastFailure) &&
        !isLossStale(owner, lostJobs) &&
        !isThrottleStale(owner, throttle, clock.wallMs())
      return !isSame
    },
    onSynced: (stats) => {
      metrics.queuesCounted()
      const counted = [...stats]
      metrics.queuesThrottled(countThrottled(counted))
      metrics.readyJobsCounted(countReady(counted))
    },
    failure: 'Jobs could not be counted',
  })
}

function countThrottled(stats: Iterable<QueueStatsEntry>): Readonly<Record<ThrottleReason, number>> {
  const counts = Object.fromEntries(THROTTLE_REASONS.map((reason) => [reason, 0])) as Record<
    ThrottleReason,
    number
  >
  for (const { throttle } of stats) if (throttle !== null) counts[throttle.reason] += 1
  return counts
}

function countReady(stats: readonly QueueStatsEntry[]): ReadyCounts {
  const stopped = Object.fromEntries(STOP_REASONS.map((reason) => [reason, 0])) as Record<StopReason, number>
  let [startable, oldestStartableMs] = [0, 0]
  for (const { split } of stats) {
    startable += split.startable
    oldestStartableMs = Math.max(oldestStartableMs, split.oldestStartableMs ?? 0)
    if (split.stopped !== null) stopped[split.stopped.reason] += split.stopped.jobs
  }
  return { startable, stopped, oldestStartableMs }
}

function isSameOldest(shown: string | undefined, ageMs: number | null, wallMs: number): boolean {
  if (shown === undefined || ageMs === null) return shown === undefined && ageMs === null
  return Math.abs(Date.parse(shown) - (wallMs - ageMs)) < SYNC_EVERY_MS
}
