import { setTimeout as pause } from 'node:timers/promises'
import { cliError, NOT_PERMITTED } from '../../cli-error.ts'
import { isPassing } from '../../connection/awaited.ts'
import type { Api } from '../../connection/api.ts'
import { followChanges } from '../../connection/changes.ts'
import { callLocally, type LocalEnd, localUrlOf } from './local-call.ts'
import { type CallCopy, copyOf, isMasked, type NoCopy } from './call-copy.ts'
import { type EndedCall, EndedCalls } from './ended-calls.ts'

/** Between two looks while events say what changes, and where they do not. */
const LOOK_MS = 10_000
const LOOK_MS_WITHOUT_EVENTS = 2_000
/** Between two looks at least: the API tells changes once a second. */
const LOOK_MS_MIN = 1_000
const RETRY_MS_MAX = 30_000
/** Copies in the air at once. */
const AT_ONCE_MAX = 8

export interface ForwardReport {
  /** A copy was sent. */
  sent(copy: CallCopy, url: URL, end: LocalEnd): void
  /** A call has no copy. */
  left(jobId: number, reason: NoCopy): void
  /** More calls ended than are copied. */
  skipped(count: number, mayBeMore: boolean): void
  /** The API does not answer, and will be asked again. */
  away(message: string): void
  /** The API answers again. */
  back(): void
}

export interface Forwarded {
  readonly api: Api
  readonly queue: string
  readonly forward: URL
  readonly report: ForwardReport
  readonly nowMs: () => number
}

/**
 * Sends copies of the calls of a queue that end from now on, each once, until `signal` is aborted. All copies of a look
 * are sent before the next look, so whoever is slow here gets fewer, and holds up nobody else.
 * @param onBegun called when what ended before is known
 * @throws what the API answers, unless it will pass
 */
export async function forwardCalls(
  { api, queue, forward, report, nowMs }: Forwarded,
  onBegun: () => void,
  signal: AbortSignal,
): Promise<void> {
  const ended = new EndedCalls(api, queue)
  await ended.begin(signal)
  onBegun()
  const bell = new Bell()
  let lookMs = LOOK_MS
  const following = followChanges(api, () => bell.ring(), signal).then(() => {
    lookMs = LOOK_MS_WITHOUT_EVENTS
    bell.ring()
  })
  let failures = 0
  while (!signal.aborted) {
    await bell.heard(failures === 0 ? lookMs : Math.min(LOOK_MS_MIN * 2 ** failures, RETRY_MS_MAX), signal)
    if (signal.aborted) break
    try {
      const { calls, skipped, mayMissMore } = await ended.look(signal)
      if (failures > 0) report.back()
      failures = 0
      if (skipped > 0 || mayMissMore) report.skipped(skipped, mayMissMore)
      await sendAll(calls, { forward, report, nowMs, signal })
    } catch (fault) {
      if (signal.aborted) break
      if (!isPassing(fault)) throw fault
      if (failures === 0) report.away((fault as Error).message)
      failures += 1
    }
    await pause(LOOK_MS_MIN, undefined, { signal }).catch(() => undefined)
  }
  await following
}

async function sendAll(
  calls: readonly EndedCall[],
  {
    forward,
    report,
    nowMs,
    signal,
  }: Pick<Forwarded, 'forward' | 'report' | 'nowMs'> & { readonly signal: AbortSignal },
): Promise<void> {
  const waiting = calls.values()
  const work = async (): Promise<void> => {
    for (const { job, text } of waiting) {
      if (signal.aborted) return
      if (isMasked(job)) throw cliError('This needs the permission payloads', NOT_PERMITTED)
      const copy = copyOf(job, text, nowMs())
      if (typeof copy === 'string') {
        report.left(job.job_id, copy)
        continue
      }
      const url = localUrlOf(forward, copy.url)
      const end = await callLocally(url, copy, signal)
      if (!signal.aborted) report.sent(copy, url, end)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE_MAX }, work))
}

/** Wakes whoever waits; a ring that nobody waits for is heard by the next who does. */
class Bell {
  #hasRung = false
  #wake = (): void => undefined

  ring(): void {
    this.#hasRung = true
    this.#wake()
  }

  async heard(waitMs: number, signal: AbortSignal): Promise<void> {
    const rung = new Promise<void>((resolve) => (this.#wake = resolve))
    if (!this.#hasRung) {
      const end = new AbortController()
      const waited = pause(waitMs, undefined, { signal: AbortSignal.any([signal, end.signal]) })
      await Promise.race([rung, waited.catch(() => undefined)])
      end.abort()
    }
    this.#hasRung = false
  }
}
