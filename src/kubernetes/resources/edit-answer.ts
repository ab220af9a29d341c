import { EditRefusedError, ResourceApiError } from '../../domain/errors.ts'
import type { Clock } from '../../ports/runtime.ts'
import type { KubeObject, ObjectRef } from '../../ports/kubernetes.ts'
import { pause } from '../../domain/pause.ts'

/** An edit is answered when it is in force, or after this long with what was written. */
const IN_FORCE_WAIT_MS = 2_000
const IN_FORCE_LOOK_MS = 50
/** A client does not wait longer for the API server; whether the write is done, is then not known. */
const WRITE_TIMEOUT_MS = 5_000

/** What the API server does not take, it will not take the next time either. */
const REFUSALS: ReadonlySet<string> = new Set(['invalid', 'forbidden', 'conflict', 'not_found'])

/** The end of a write in words for the person who edits, in time. */
export async function answered<T>(clock: Clock, run: () => Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const cancel = clock.after(WRITE_TIMEOUT_MS, () =>
    reject(new ResourceApiError('unavailable', `no answer within ${WRITE_TIMEOUT_MS} ms`)),
  )
  try {
    return await Promise.race([run(), late])
  } catch (error) {
    if (!(error instanceof ResourceApiError) || !REFUSALS.has(error.fault)) throw error
    throw new EditRefusedError(error.message, { cause: error })
  } finally {
    cancel()
  }
}

/** Looks until it is true, and for two seconds at most. */
export async function untilTrue(clock: Clock, look: () => Promise<boolean>): Promise<boolean> {
  const untilMs = clock.monotonicMs() + IN_FORCE_WAIT_MS
  for (;;) {
    if (await look()) return true
    if (clock.monotonicMs() >= untilMs) return false
    await pause(clock, IN_FORCE_LOOK_MS)
  }
}

export function notWatched(what: 'Queues' | 'Crons', namespace: string): EditRefusedError {
  return new EditRefusedError(
    `${what} of ${namespace} have no resources here: PUNCTUAL_WATCH_NAMESPACES leaves that namespace out.`,
  )
}

export function refOf({ apiVersion, kind, metadata: { namespace, name, uid } }: KubeObject): ObjectRef {
  return { apiVersion, kind, namespace, name, uid }
}
