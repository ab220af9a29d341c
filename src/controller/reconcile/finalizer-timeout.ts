import type { Clock } from '../../ports/runtime.ts'
import type { KubeObject, ObjectKey } from '../../ports/kubernetes.ts'

/** A deleted resource is let go when Redis has not taken its removal for this long, so that a namespace can end. */
export const REMOVAL_GIVEN_UP_MS = 300_000

/** Since when the removals of deleted resources fail. */
export interface FinalizerTimeout {
  /** One has failed; whether that has gone on for too long. */
  isOver(key: ObjectKey, resource: KubeObject): boolean
  /** It fails no more. */
  forget(key: ObjectKey): void
}

export function createFinalizerTimeout(clock: Pick<Clock, 'monotonicMs'>): FinalizerTimeout {
  const failing = new Map<ObjectKey, { readonly uid: string; readonly sinceMs: number }>()
  return {
    isOver: (key, { metadata: { uid } }) => {
      const nowMs = clock.monotonicMs()
      const known = failing.get(key)
      // One of before may have been let go by hand, or by another leader.
      const sinceMs = known?.uid === uid ? known.sinceMs : nowMs
      failing.set(key, { uid, sinceMs })
      return nowMs - sinceMs >= REMOVAL_GIVEN_UP_MS
    },
    forget: (key) => void failing.delete(key),
  }
}
