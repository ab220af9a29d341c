import { setTimeout as pause } from 'node:timers/promises'
import type { Api } from './api.ts'

/** A proxy may have forgotten a stream on which nothing comes: the API sends something every 15 s. */
const SILENT_MS = 40_000
const RETRY_MS = 1_000
const RETRY_MS_MAX = 30_000

/**
 * Follows the events of the team until `signal` is aborted, and tells each time that something has changed, and that a
 * stream has begun: before it, anything may have. A stream that ends or fails is opened again, later each time. Ends at
 * once where the token may not follow them, as one that is limited to queues. Never throws.
 */
export async function followChanges(api: Api, onChange: () => void, signal: AbortSignal): Promise<void> {
  let retryMs = RETRY_MS
  while (!signal.aborted) {
    const isAllowed = await followOnce(
      api,
      () => {
        retryMs = RETRY_MS
        onChange()
      },
      signal,
    )
    if (!isAllowed) return
    await pause(retryMs, undefined, { signal }).catch(() => undefined)
    retryMs = Math.min(2 * retryMs, RETRY_MS_MAX)
  }
}

/** Answers whether another try may succeed. */
async function followOnce(api: Api, onChange: () => void, signal: AbortSignal): Promise<boolean> {
  const silence = new AbortController()
  const hear = (): NodeJS.Timeout => setTimeout(() => silence.abort(), SILENT_MS).unref()
  let timer = hear()
  try {
    const { status, body } = await api.events(AbortSignal.any([signal, silence.signal]))
    if (status !== 200 || body === null) {
      await body?.cancel()
      return status !== 401 && status !== 403
    }
    onChange()
    for await (const chunk of body) {
      clearTimeout(timer)
      timer = hear()
      // Comments keep the stream alive; whatever else comes says that something has changed.
      if (!isComment(chunk)) onChange()
    }
    return true
  } catch {
    return true
  } finally {
    clearTimeout(timer)
  }
}

/** The API writes an event or a comment as one. Two that come together are taken for a change. */
function isComment(chunk: Uint8Array): boolean {
  return Buffer.from(chunk).toString('latin1').trim() === ':'
}
