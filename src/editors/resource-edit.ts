import { isDeepStrictEqual } from 'node:util'
import { EditConflictError, EditRefusedError, ResourceApiError, isFault } from '../domain/errors.ts'
import { pause } from '../domain/pause.ts'
import type { KubeObject } from '../ports/resource-store.ts'
import type { Clock } from '../ports/runtime.ts'
import type { Condition } from '../resources/generated/kinds.ts'

/** An edit is answered when the engine has applied it, or after this time. */
const APPLIED_WAIT_MS = 2_000
const POLL_MS = 50
/** A client waits this long for the API server. A write that takes longer may happen all the same. */
const WRITE_TIMEOUT_MS = 5_000

/** Another try would not change these faults. */
const REFUSALS: ReadonlySet<string> = new Set(['invalid', 'forbidden', 'conflict', 'not_found'])

export function isRefusal(error: unknown): boolean {
  return error instanceof ResourceApiError && REFUSALS.has(error.fault)
}

/** Bounds a request to the API server by the client's patience. Throws EditRefusedError with the server's own words. */
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
 * A write under a lock is tried at most this many times, because the version of an object changes with every edit that
 * comes in between, and with its status too.
 */
const LOCKED_TRIES_MAX = 10

/**
 * Checks an object, and writes to it only if it has not changed since; without a check, writes without a lock. Throws
 * what the check throws, and EditConflictError when the object keeps changing.
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

/** Says why the controller did not put the present spec in force; null = it did, or has not seen it yet. */
export function refusalOf({ metadata, status }: ReconciledObject): string | null {
  if (status?.observedGeneration !== metadata.generation) return null
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')
  return ready?.status === 'False' ? ready.reason : null
}

/** Polls until the condition holds. @returns false when the time is over, two seconds unless it is given */
export async function pollUntil(
  clock: Clock,
  condition: () => Promise<boolean>,
  waitMs: number = APPLIED_WAIT_MS,
): Promise<boolean> {
  const untilMs = clock.monotonicMs() + waitMs
  for (;;) {
    if (await condition()) return true
    if (clock.monotonicMs() >= untilMs) return false
    await pause(clock, POLL_MS)
  }
}

/**
 * Answers what `read` returns once the engine has applied the written settings, and null if the object was removed.
 * When that takes too long, answers what was written.
 */
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
  what: 'Queues' | 'Crons' | 'Maintenance windows' | 'Tokens' | 'Signing secrets' | 'Channels',
  namespace: string,
): EditRefusedError {
  return new EditRefusedError(
    `${what} of ${namespace} have no resources here: PUNCTUAL_WATCH_NAMESPACES or PUNCTUAL_NAMESPACE_SELECTOR leaves that namespace out.`,
  )
}
