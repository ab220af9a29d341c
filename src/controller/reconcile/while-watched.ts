import { ResourceApiError } from '../../domain/errors.ts'
import type { ObjectKey, Reconciler } from '../../ports/kubernetes.ts'
import { parseKey } from '../../resources/queue-owner.ts'

/**
 * Leaves alone what was applied of a namespace that is no longer watched: its resources may still exist, and another
 * installation may watch it. What a former namespace of the name has left is never mixed with that of another.
 */
export function whileWatched(
  reconciler: Reconciler,
  options: {
    readonly isWatched: (namespace: string) => boolean
    /** Tells whether what Redis has of the team belongs to its namespace. */
    readonly admit: (namespace: string) => Promise<boolean>
    /** Called with keys that are left alone. */
    readonly forget: (key: ObjectKey) => void
  },
): Reconciler {
  return {
    reconcile: async (key, signal) => {
      const { team } = parseKey(key)
      if (!options.isWatched(team)) {
        options.forget(key)
        return { requeueAfterMs: null }
      }
      if (await options.admit(team)) return reconciler.reconcile(key, signal)
      throw new ResourceApiError(
        'unavailable',
        `namespace ${team} was made anew: what the former one has left is removed first`,
      )
    },
  }
}
