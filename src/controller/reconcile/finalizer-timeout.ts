import type { Clock } from '../../ports/runtime.ts'
import type { ObjectKey } from '../../ports/kubernetes.ts'
import type { KubeObject } from '../../ports/resource-store.ts'

/** A finalizer is removed after its cleanup has failed for this long, so that a namespace can terminate. */
export const FINALIZER_TIMEOUT_MS = 300_000

/** Owns, by key, since when the cleanup of a deleted object has been failing. */
export class FinalizerTimeout {
  readonly #clock: Pick<Clock, 'monotonicMs'>
  readonly #failing = new Map<ObjectKey, { readonly uid: string; readonly sinceMs: number }>()

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock
  }

  /** Notes a failed cleanup. @returns whether it has been failing for too long */
  hasExpired(key: ObjectKey, { metadata: { uid } }: KubeObject): boolean {
    const nowMs = this.#clock.monotonicMs()
    const known = this.#failing.get(key)
    // A former object of this name may have been released by hand or by another leader.
    const sinceMs = known?.uid === uid ? known.sinceMs : nowMs
    this.#failing.set(key, { uid, sinceMs })
    return nowMs - sinceMs >= FINALIZER_TIMEOUT_MS
  }

  forget(key: ObjectKey): void {
    this.#failing.delete(key)
  }
}
