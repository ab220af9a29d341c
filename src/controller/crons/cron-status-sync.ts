import type { Clock, Logger } from '../../ports/runtime.ts'
import type { CronStats, CronState } from '../../ports/crons.ts'
import type { ObjectKey, Informer } from '../../ports/kubernetes.ts'
import { placeOfKey } from '../../resources/queue-owner.ts'
import { isCronNews } from './cron-status.ts'
import { keyOf, type HttpCron } from '../kinds.ts'
import { createStatusSync } from '../reconcile/status-sync.ts'

export interface CronLooksParts {
  readonly view: Pick<Informer<HttpCron>, 'all' | 'get'>
  readonly queueStats: Pick<CronStats, 'read'>
  /** Puts a key in line for the reconciler, which writes the status. */
  readonly enqueue: (key: ObjectKey) => void
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * Looks at all crons with a resource, round after round. It writes nothing: a cron that is no more as its status says
 * gets a turn of the reconciler, which is the one writer of the status.
 */
export interface CronStatusSync {
  /** As looked at last; null when it was not yet. */
  of(key: ObjectKey): CronState | null
  run(signal: AbortSignal): Promise<void>
}

export function createCronStatusSync(parts: CronLooksParts): CronStatusSync {
  const { view, queueStats } = parts
  const seen = new Map<ObjectKey, CronState>()
  const isNews = (key: ObjectKey): boolean => {
    const state = seen.get(key)
    return state !== undefined && isCronNews(view.get(key)?.status, state)
  }
  const rounds = createStatusSync({
    ...parts,
    keys: () => [...view.all()].map(keyOf),
    news: async (keys) => {
      const states = await queueStats.read(keys.map(placeOfKey))
      for (const [index, key] of keys.entries()) {
        const state = states[index]
        if (state === null || state === undefined) seen.delete(key)
        else seen.set(key, state)
      }
      return keys.filter(isNews)
    },
    onRound: () => {
      for (const key of seen.keys()) if (view.get(key) === undefined) seen.delete(key)
    },
    failure: 'Crons could not be looked at',
  })
  return { of: (key) => seen.get(key) ?? null, run: (signal) => rounds.run(signal) }
}
