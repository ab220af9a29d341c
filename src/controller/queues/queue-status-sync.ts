import { isDeepStrictEqual } from 'node:util'
import type { Clock, Logger } from '../../ports/runtime.ts'
import type { ControllerMetrics } from '../../ports/metrics.ts'
import type { ObjectKey, Informer } from '../../ports/kubernetes.ts'
import type { QueueStatsEntry, QueueStats } from '../../ports/queues.ts'
import { ownerOf, placeOfKey, queueKeyOf } from '../../resources/queue-owner.ts'
import { BY_QUEUE, type HttpQueue } from '../kinds.ts'
import { createStatusSync, ROUND_EVERY_MS } from '../reconcile/status-sync.ts'

export interface QueueCountersParts {
  readonly view: Pick<Informer<HttpQueue>, 'all' | 'byIndex'>
  readonly queueStats: Pick<QueueStats, 'count'>
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
export interface QueueStatusSync {
  /** As counted last; null when it was not yet. */
  of(key: ObjectKey): QueueStatsEntry | null
  run(signal: AbortSignal): Promise<void>
}

export function createQueueStatusSync(parts: QueueCountersParts): QueueStatusSync {
  const { view, queueStats, clock, metrics } = parts
  const counted = new Map<ObjectKey, QueueStatsEntry>()
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
  const rounds = createStatusSync({
    ...parts,
    keys: () => [...new Set([...view.all()].map(queueKeyOf))],
    news: async (keys) => {
      const entries = await queueStats.count(keys.map(placeOfKey))
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
