import type { Answer, Bulk } from '../../../../clients/typescript/src/client.ts'
import { readAnswer } from '../../command-runner.ts'
import { lookUntil } from '../../connection/awaited.ts'
import type { Api } from '../../connection/api.ts'
import type { ProgressBar } from '../../output/progress-bar.ts'

const POLL_MS = 1_000

export interface BulkWait {
  /** How long to poll, not counting the time of the requests. */
  readonly seconds: number
  readonly sleep: (milliseconds: number) => Promise<void>
  readonly bar: Pick<ProgressBar, 'update'>
}

export interface AwaitedBulk {
  /** The last one. */
  readonly answer: Answer<'readBulk'>
  /** What is wrong with its end, or that it has none; null when it is done without failures. */
  readonly failure: string | null
}

/** Polls a bulk until it has ended or the time is over, and draws its progress. */
export async function awaitBulk(api: Api, id: number, options: BulkWait): Promise<AwaitedBulk> {
  const polls = Math.ceil((options.seconds * 1000) / POLL_MS)
  const answer = await lookUntil({
    look: () => api.send('readBulk', { bulk_id: String(id) }),
    isEnd: ({ body }) => {
      const { done, skipped, failed, matched, is_at_least: isAtLeast, state } = body
      if (hasEnded(body)) return true
      options.bar.update(done + skipped + failed, isAtLeast ? null : matched, state)
      return false
    },
    polls,
    pause: () => options.sleep(POLL_MS),
  })
  return { answer, failure: readAnswer(() => failureOf(answer.body, options.seconds)) }
}

function hasEnded({ state }: Pick<Bulk, 'state'>): boolean {
  return state === 'done' || state === 'aborted' || state === 'stopped'
}

function failureOf({ id, state, failed }: Bulk, seconds: number): string | null {
  if (state !== 'done') return `bulk ${id} is ${state}${hasEnded({ state }) ? '' : ` after ${seconds} s`}`
  return failed === 0 ? null : `bulk ${id} could not act on ${failed} jobs`
}
