import { isDeepStrictEqual } from 'node:util'
import type { Informer, ObjectKey } from '../../ports/kubernetes.ts'
import type { ControllerMetrics } from '../../ports/metrics.ts'
import type { QueueStats, QueueStatsEntry } from '../../ports/queues.ts'
import type { Clock, Logger } from '../../ports/runtime.ts'
import { ownerOf, parseKey, queueKeyOf } from '../../resources/queue-owner.ts'
import { BY_QUEUE, type HttpQueue } from '../kinds.ts'
import { isFailureStale } from './queue-failure.ts'
import { StatusSync, SYNC_EVERY_MS } from '../reconcile/status-sync.ts'

/** Counts the jobs of all queues that have a resource. */
export function createQueueStatusSync(parts: {
  readonly informer: Pick<Informer<HttpQueue>, 'all' | 'byIndex'>
  readonly queueStats: Pick<QueueStats, 'count'>
  readonly enqueue: (key: ObjectKey) => void
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Pick<ControllerMetrics, 'queuesCounted'>
}): StatusSync<QueueStatsEntry> {
  const { informer, queueStats, clock, metrics } = parts
  return new StatusSync({
    ...parts,
    keys: () => [...new Set([...informer.all()].map(queueKeyOf))],
    read: (keys) => queueStats.count(keys.map(parseKey)),
    isStale: (key, { queueId, counts, oldestReadyMs, lastFailure }) => {
      const owner = ownerOf(informer.byIndex(BY_QUEUE, key))
      const status = owner?.status
      // Without this id the queue is not applied yet; its first status brings the counts.
      if (owner === undefined || status?.queueId !== queueId) return false
      const isSame =
        isDeepStrictEqual(status.counts, counts) &&
        isSameOldest(status.oldestReadyTime, oldestReadyMs, clock.wallMs()) &&
        !isFailureStale(owner, lastFailure)
      return !isSame
    },
    onSynced: () => metrics.queuesCounted(),
    failure: 'Jobs could not be counted',
  })
}

function isSameOldest(shown: string | undefined, ageMs: number | null, wallMs: number): boolean {
  if (shown === undefined || ageMs === null) return shown === undefined && ageMs === null
  return Math.abs(Date.parse(shown) - (wallMs - ageMs)) < SYNC_EVERY_MS
}
