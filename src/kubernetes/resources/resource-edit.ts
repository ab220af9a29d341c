import { isDeepStrictEqual } from 'node:util'
import { EditConflictError, EditRefusedError, ResourceApiError } from '../../domain/errors.ts'
import { pause } from '../../domain/pause.ts'
import { isFault } from '../client/api-errors.ts'
import type { KubeObject, ObjectRef } from '../../ports/kubernetes.ts'
import type { Clock } from '../../ports/runtime.ts'
import type { Condition } from '../../resources/generated/kinds.ts'

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

/**
 * How often a write under a lock is tried: a new status changes the version of an object too, and every edit that comes in
 * between.
 */
const LOCKED_TRIES_MAX = 10

/**
 * Checks an object and writes to it while it is as it was checked; without a check, writes without a lock. Throws what the
 * check throws, and EditConflictError when the object keeps changing.
 */
export async function writeChecked<T extends KubeObject, Written>(
  found: T,
  edit: {
    readonly check: ((object: T) => void) | undefined
    readonly write: (object: T, resourceVersion: string | null) => Promise<Written>
    readonly read: () => Promise<T | null>
  },
): Promise<Written> {
  const { check, write, read } = edit
  if (check === undefined) return write(found, null)
  let object = found
  for (let tries = 0; tries < LOCKED_TRIES_MAX; tries += 1) {
    check(object)
    try {
      return await write(object, object.metadata.resourceVersion)
    } catch (error) {
      if (!isFault(error, 'conflict')) throw error
      const fresh = await read()
      if (fresh?.metadata.uid !== found.metadata.uid) throw error
      object = fresh
    }
  }
  throw new EditConflictError(null)
}

interface ReconciledObject extends KubeObject {
  readonly status?: { readonly observedGeneration?: number; readonly conditions?: readonly Condition[] }
}

/** Why the controller did not put the spec in force as it is now; null = it did, or has not seen it yet. */
export function refusalOf({ metadata, status }: ReconciledObject): string | null {
  if (status?.observedGeneration !== metadata.generation) return null
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')
  return ready?.status === 'False' ? ready.reason : null
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
  what: 'Queues' | 'Crons' | 'Maintenance windows' | 'Tokens' | 'Signing secrets',
  namespace: string,
): EditRefusedError {
  return new EditRefusedError(
    `${what} of ${namespace} have no resources here: PUNCTUAL_WATCH_NAMESPACES or PUNCTUAL_NAMESPACE_SELECTOR leaves that namespace out.`,
  )
}

export function refOf({ apiVersion, kind, metadata: { namespace, name, uid } }: KubeObject): ObjectRef {
  return { apiVersion, kind, namespace, name, uid }
}
