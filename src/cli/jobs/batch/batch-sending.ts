import { CommanderError } from 'commander'
import { JsonText, type JobBatchResults } from '../../../../clients/typescript/src/client.ts'
import { cliError, UNAVAILABLE } from '../../cli-error.ts'
import type { Api } from '../../connection/api.ts'

export type BatchResult = JobBatchResults['results'][number]

/** So often is a push sent again that may pass later. */
const RETRIES_MAX = 5
const FIRST_PAUSE_MS = 1_000
/** A push that has to wait longer, as one over a quota of the month, is not sent again. */
const PAUSE_MAX_MS = 30_000

type Sleep = (milliseconds: number) => Promise<void>

/**
 * Pushes a batch and answers what became of each push. Pushes that are refused in passing are sent again, and so is the
 * batch when no answer came: all pushes have idempotency keys, so that none makes two jobs.
 */
export async function sendBatch(api: Api, pushes: readonly string[], sleep: Sleep): Promise<BatchResult[]> {
  const results: BatchResult[] = []
  let open = pushes.map((_, index) => index)
  for (let retry = 0; ; retry += 1) {
    const sent = open.map((index) => pushes[index] ?? '')
    // Results of an earlier try are told, whatever becomes of this one.
    const mayFail = retry < RETRIES_MAX || results.length > 0
    const answered = await tried(api, sent, mayFail)
    answered?.forEach((result, at) => (results[open[at] ?? 0] = result))
    if (answered !== null) open = open.filter((index) => isPassing(results[index]))
    const pauseMs = Math.max(FIRST_PAUSE_MS * 2 ** retry, longestPauseMs(answered ?? []))
    if (open.length === 0 || retry === RETRIES_MAX || pauseMs > PAUSE_MAX_MS) return results
    await sleep(pauseMs)
  }
}

export function isPassing(result: BatchResult | undefined): boolean {
  return result?.status === 429 || result?.status === 503
}

/** null when there was no answer, and the batch may be sent again. */
async function tried(api: Api, pushes: readonly string[], mayFail: boolean): Promise<BatchResult[] | null> {
  try {
    const body = new JsonText(`{"jobs":[${pushes.join(',')}]}`)
    const { results } = (await api.send('pushJobs', { body })).body
    if (Array.isArray(results) && results.length === pushes.length) return results
    throw cliError('the answer is not from Punctual')
  } catch (fault) {
    if (mayFail && fault instanceof CommanderError && fault.exitCode === UNAVAILABLE) return null
    throw fault
  }
}

function longestPauseMs(results: readonly BatchResult[]): number {
  return results.reduce((longest, result) => {
    const seconds = 'retry_after' in result ? (result.retry_after ?? 0) : 0
    return Math.max(longest, seconds * 1000)
  }, 0)
}
