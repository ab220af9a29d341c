import { isDeepStrictEqual } from 'node:util'
import { EditRefusedError, ResourceApiError } from '../../domain/errors.ts'
import { pause } from '../../domain/pause.ts'
import type { KubeObject, ObjectRef } from '../../ports/kubernetes.ts'
import type { Clock } from '../../ports/runtime.ts'

/** An edit is answered when the engine has applied it, or after this time. */
const APPLIED_WAIT_MS = 2_000
const POLL_MS = 50
/** A client waits no longer for the API server; the write may happen all the same. */
const WRITE_TIMEOUT_MS = 5_000

/** Faults that another try would not change. */
const REFUSALS: ReadonlySet<string> = new Set(['invalid', 'forbidden', 'conflict', 'not_found'])

/** A request to the API server within the client's patience. Throws EditRefusedError with the server's own words. */
export async function withinTimeout<T>(clock: Clock, request: () => Promise<T>): Promise<T> {
  const { promise: timeout, reject } = Promise.withResolvers<never>()
  const cancel = clock.after(WRITE_TIMEOUT_MS, () =>
    reject(new ResourceApiError('unavailable', `no answer within ${WRITE_TIMEOUT_MS} ms`)),
  )
  try {
    return await Promise.race([request(), timeout])
  } catch (error) {
    if (!(error instanceof ResourceApiError) || !REFUSALS.has(error.fault)) throw error
    throw new EditRefusedError(error.message, { cause: error })
  } finally {
    cancel()
  }
}

/** Polls until the condition holds. @returns false after two seconds */
export async function pollUntil(clock: Clock, condition: () => Promise<boolean>): Promise<boolean> {
  const untilMs = clock.monotonicMs() + APPLIED_WAIT_MS
  for (;;) {
    if (await condition()) return true
    if (clock.monotonicMs() >= untilMs) return false
    await pause(clock, POLL_MS)
  }
}

/** What `read` returns once the engine has applied the written settings, or null if it was removed; else what was written. */
export async function whenApplied<T extends { readonly settings: object }>(
  clock: Clock,
  edit: { readonly written: T; read(): Promise<T | null> },
): Promise<T | null> {
  let now: T | null = null
  const isApplied = await pollUntil(clock, async () => {
    now = await edit.read()
    return now === null || isDeepStrictEqual({ ...now.settings }, { ...edit.written.settings })
  })
  return isApplied ? now : edit.written
}

export function notWatched(
  what: 'Queues' | 'Crons' | 'Maintenance windows' | 'Tokens',
  namespace: string,
): EditRefusedError {
  return new EditRefusedError(
    `${what} of ${namespace} have no resources here: PUNCTUAL_WATCH_NAMESPACES leaves that namespace out.`,
  )
}

export function refOf({ apiVersion, kind, metadata: { namespace, name, uid } }: KubeObject): ObjectRef {
  return { apiVersion, kind, namespace, name, uid }
}
