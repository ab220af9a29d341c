import type { AlertType } from '../alerts/alert.ts'
import type { ChannelState, Thread } from './channel-state.ts'

const MINUTE_MS = 60_000
/** Digests after the first message about a resource; then one follows every DIGEST_EVERY_MS. */
const DIGESTS_MS = [MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS]
/** Trouble is over when nothing was raised for as long. */
export const DIGEST_EVERY_MS = 15 * MINUTE_MS
/** Beyond this the oldest threads are forgotten: their resources count as new. */
const THREADS_MAX = 500

/** The thread after a message, with the time of its next digest. */
export function nextThread(
  thread: Thread | null,
  { mostSevere, nowMs, newId }: { readonly mostSevere: AlertType; readonly nowMs: number; newId(): string },
): Thread {
  // A start in the future is one of before the clock was set back: every message would be due at once.
  const startedAtMs = Math.min(thread?.startedAtMs ?? nowMs, nowMs)
  const afterMs = nowMs - startedAtMs
  const atMs =
    DIGESTS_MS.find((digestMs) => digestMs > afterMs) ??
    (Math.floor(afterMs / DIGEST_EVERY_MS) + 1) * DIGEST_EVERY_MS
  return {
    id: thread?.id ?? newId(),
    startedAtMs,
    lastMessageAtMs: nowMs,
    nextMs: startedAtMs + atMs,
    owedSinceMs: null,
    mostSevere,
  }
}

/** Ends threads whose trouble is over, and notes since when the others have something to tell. */
export function withThreads(
  state: ChannelState,
  { owed, nowMs }: { readonly owed: ReadonlySet<string>; readonly nowMs: number },
): ChannelState {
  let isChanged = false
  const threads: Record<string, Thread> = {}
  for (const [resource, thread] of Object.entries(state.threads)) {
    const isQuiet = thread.owedSinceMs === null
    const isOver = isQuiet && nowMs >= thread.lastMessageAtMs + DIGEST_EVERY_MS
    const isNew = isQuiet && owed.has(resource)
    if (!isOver) threads[resource] = isNew ? { ...thread, owedSinceMs: nowMs } : thread
    isChanged ||= isOver || isNew
  }
  return isChanged ? { ...state, threads } : state
}

export function newestThreads(threads: Record<string, Thread>): Record<string, Thread> {
  const entries = Object.entries(threads)
  if (entries.length <= THREADS_MAX) return threads
  const sorted = entries.toSorted(([, a], [, b]) => b.lastMessageAtMs - a.lastMessageAtMs)
  return Object.fromEntries(sorted.slice(0, THREADS_MAX))
}
