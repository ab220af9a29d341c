import type { Actor } from '../../domain/access/audit-record.ts'
import { pause } from '../../domain/pause.ts'
import { viewChain } from '../../domain/jobs/job-view.ts'
import type { JobIds } from '../../domain/jobs/job-ids.ts'
import type { IssueStore } from '../../ports/issues/issue-store.ts'
import type { JobIntake, JobStore } from '../../ports/jobs.ts'
import { systemClock } from '../../telemetry/system-clock.ts'

/** The sample queue whose retries follow within seconds. */
const QUEUE = 'quick-retries'
const STANDALONE: Actor = { kind: 'system', name: 'standalone', via: 'api', address: null }
const LOOK_MS = 200
const LOOKS_MAX = 150

/**
 * Pushes a job that fails twice and then succeeds, and prints each attempt as it ends, so that a newcomer first sees a
 * retry at work. The issue of its failures is resolved once it has succeeded. Ends after half a minute at most.
 */
export async function showFirstJob(options: {
  baseUrl: string
  team: string
  intake: JobIntake
  jobs: JobStore
  issues: Pick<IssueStore, 'list' | 'change'>
  jobIds: JobIds
  say(line: string): void
  signal: AbortSignal
}): Promise<void> {
  const { team, jobs, say } = options
  const pushed = await options.intake.push({
    team,
    queue: QUEUE,
    request: {
      url: `${options.baseUrl}/echo?fail=2&status=503`,
      method: 'POST',
      headers: {},
      payload: '{"hello":"world"}',
      callbackUrl: null,
      callbackEvents: null,
      tags: {},
      timeoutSeconds: null,
      retryDelays: null,
      retriesEnabled: null,
      successAssertions: null,
      cron: null,
    },
    start: { delaySeconds: 0 },
    idempotency: null,
  })
  if (pushed.status !== 'created') return
  say(`A first job was pushed to queue ${QUEUE}: job ${pushed.jobId}. Its target fails twice, then answers.`)
  let shown = 0
  for (let looks = 0; looks < LOOKS_MAX && !options.signal.aborted; looks += 1) {
    const chain = await jobs.get(team, pushed.jobId)
    if (chain === null) return
    const views = viewChain(chain, options.jobIds)
    for (const view of views.slice(shown, chain.attempts.length)) {
      const answer = view.errorMessage ?? `The target answered ${view.responseStatus}.`
      say(`  attempt ${view.attempt}: ${view.status} in ${view.durationMs} ms. ${answer}`)
    }
    shown = chain.attempts.length
    if (chain.end !== null) {
      if (chain.end === 'success') await resolveOwn(options, pushed.jobId)
      return
    }
    await pause(systemClock, LOOK_MS, options.signal)
  }
}

/** Issues of one queue that the example may be found among. */
const ISSUES_MAX = 40

/** The example failed on purpose, so what it opened is nothing that anybody has to mend. */
async function resolveOwn(
  { team, issues }: { readonly team: string; readonly issues: Pick<IssueStore, 'list' | 'change'> },
  jobId: number,
): Promise<void> {
  const filter = { states: ['open'], queue: QUEUE } as const
  const page = await issues.list({ team, filter, limit: ISSUES_MAX, cursor: null })
  const own = page === 'bad_cursor' ? [] : page.issues.filter(({ sampleJobId }) => sampleJobId === jobId)
  for (const { id: issueId } of own) {
    await issues.change({ team, issueId, change: 'resolve', mutedUntilMs: null, actor: STANDALONE })
  }
}
