import { CommanderError } from 'commander'
import type { Job } from '../../../clients/typescript/src/client.ts'
import { NOT_FOUND } from '../cli-error.ts'
import type { OutputFlags } from '../command-options.ts'
import { readAnswer } from '../command-runner.ts'
import type { Api } from '../connection/api.ts'
import type { ReceivedAnswer } from '../output/answer-text.ts'

/** A job, and the last attempt of its chain that was begun, where this is another job with calls of its own. */
export interface ShownJob extends Job {
  readonly newest?: Job | null
}

/**
 * Adds to an original job its newest attempt, which people want to see first. A retry is shown alone, and so is a job
 * that a program reads: it gets the answer as it came.
 */
export async function withNewest(
  api: Api,
  answer: ReceivedAnswer<Job>,
  { output }: OutputFlags,
): Promise<ReceivedAnswer<ShownJob>> {
  if (output !== 'table' && output !== 'wide') return answer
  const id = readAnswer(() => newestId(answer.body))
  if (id === null) return answer
  return { ...answer, body: { ...answer.body, newest: await readOrNull(api, id) } }
}

function newestId({ chain, job_id: own, is_retry: isRetry }: Job): number | null {
  const begun = chain.findLast(({ started_at }) => started_at !== null)
  return isRetry || begun === undefined || begun.job_id === own ? null : begun.job_id
}

/** A chain may be removed between two reads. */
async function readOrNull(api: Api, id: number): Promise<Job | null> {
  try {
    return (await api.send('readJob', { job_id: id })).body
  } catch (fault) {
    if (fault instanceof CommanderError && fault.exitCode === NOT_FOUND) return null
    throw fault
  }
}
