import { isDeepStrictEqual } from 'node:util'
import type { Clock } from '../../ports/clock.ts'
import type { ControllerMetrics } from '../../ports/controller-metrics.ts'
import type { ObjectKey } from '../../ports/kube-object.ts'
import type { Logger } from '../../ports/logger.ts'
import type { CensusEntry, QueueCensus } from '../../ports/queue-census.ts'
import type { ResourceView } from '../../ports/resource-view.ts'
import { ownerOf, placeOfKey, queueKeyOf } from '../../resources/queue-owner.ts'
import { BY_QUEUE, type HttpQueue } from '../kinds.ts'
import { createStatusRounds, ROUND_EVERY_MS } from '../reconcile/status-sync.ts'

export interface QueueCountersParts {
  readonly view: Pick<ResourceView<HttpQueue>, 'all' | 'byIndex'>
  readonly census: Pick<QueueCensus, 'count'>
  /** Puts a key in line for the reconciler, which writes the status. */
  readonly enqueue: (key: ObjectKey) => void
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Pick<ControllerMetrics, 'queuesCounted'>
}

/**
 * Counts the jobs of all queues with a resource, round after round. It writes nothing: a queue whose counts are not
 * those of its status gets a turn of the reconciler, which is the one writer of the status.
 */
export interface QueueCounters {
  /** As counted last; null when it was not yet. */
  of(key: ObjectKey): CensusEntry | null
  run(signal: AbortSignal): Promise<void>
}

export function createQueueCounters(parts: QueueCountersParts): QueueCounters {
  const { view, census, clock, metrics } = parts
  const counted = new Map<ObjectKey, CensusEntry>()
  const isNews = (key: ObjectKey): boolean => {
    const entry = counted.get(key)
    const status = ownerOf(view.byIndex(BY_QUEUE, key))?.status
    // Without a queue_id the queue is not in force yet: its first status brings the counts.
    if (entry === undefined || status?.queueId !== entry.queueId) return false
    return (
      !isDeepStrictEqual(status.counts, entry.counts) ||
      isOldestNews(status.oldestReadyTime, entry.oldestReadyMs, clock.wallMs())
    )
  }
  const rounds = createStatusRounds({
    ...parts,
    keys: () => [...new Set([...view.all()].map(queueKeyOf))],
    news: async (keys) => {
      const entries = await census.count(keys.map(placeOfKey))
      for (const [index, key] of keys.entries()) {
        const entry = entries[index]
        if (entry === null || entry === undefined) counted.delete(key)
        else counted.set(key, entry)
      }
      return keys.filter(isNews)
    },
    onRound: () => {
      for (const key of counted.keys()) if (view.byIndex(BY_QUEUE, key).length === 0) counted.delete(key)
      metrics.queuesCounted()
    },
    failure: 'Jobs could not be counted',
  })
  return { of: (key) => counted.get(key) ?? null, run: (signal) => rounds.run(signal) }
}

function isOldestNews(told: string | undefined, ageMs: number | null, wallMs: number): boolean {
  if (told === undefined || ageMs === null) return (told === undefined) !== (ageMs === null)
  return Math.abs(Date.parse(told) - (wallMs - ageMs)) >= ROUND_EVERY_MS
}
