import { soughtTexts } from '../../domain/jobs/assertion.ts'
import { endAttempt } from '../../domain/jobs/retry-policy.ts'
import { callbackFor } from '../../domain/jobs/callback.ts'
import { reasonOf } from '../../domain/errors.ts'
import type { JobIds } from '../../domain/jobs/job-ids.ts'
import type { EndedCall, HttpCall, HttpCaller, HttpCallResult } from '../../ports/http-caller.ts'
import type { ClaimedCallback, ClaimedJob, ClaimedWork, WorkEnd } from '../../ports/jobs.ts'
import type { Logger } from '../../ports/runtime.ts'
import type { Metrics } from '../../ports/metrics.ts'
import type { OwnSecretsSource } from '../../ports/access/own-secrets.ts'
import type { TeamSettings, TeamSettingsSource } from '../../ports/settings.ts'
import { judgeCall } from './call-judgement.ts'
import { recordCall } from './call-record.ts'
import { secretPartOf } from './own-settings.ts'

/** Makes the call of claimed work and answers how the work ends. Never throws. `redisNowMs` reads the shard's time. */
export type CallRunner = (
  work: ClaimedWork,
  signal: AbortSignal,
  redisNowMs: () => number,
) => Promise<WorkEnd>

export interface CallRunnerOptions {
  readonly caller: HttpCaller
  readonly teams: TeamSettingsSource & OwnSecretsSource
  readonly jobIds: JobIds
  readonly logger: Logger
  readonly metrics: Metrics
  /** Whether a successful call of the queue is recorded. @param queue with its shard */
  keepsSuccess(team: string, queue: string): boolean
  /** This machine cannot open any connection: further claims would fail in the same way. */
  onLocalFault(): void
}

export function createCallRunner(options: CallRunnerOptions): CallRunner {
  const { teams, jobIds, metrics } = options
  return async (work, signal, redisNowMs) => {
    if (work.kind === 'damaged') return { type: 'quarantined', work }
    const timestampSeconds = Math.floor(redisNowMs() / 1000)
    const call =
      work.kind === 'job'
        ? jobCall(work, { teams, jobIds, timestampSeconds })
        : callbackCall(work, teams.of(work.team), timestampSeconds)
    const result = 'missing' in call ? notMade(call.missing) : await makeCall(options, call, signal)
    if (result.kind === 'local_fault') options.onLocalFault()
    if (result.kind === 'local_fault' || result.kind === 'aborted') return { type: 'released', work }
    if (work.kind === 'job') return endJob(options, work, result, redisNowMs())
    const isDelivered = result.kind === 'answered' && result.status >= 200 && result.status < 300
    metrics.callbackFinished(isDelivered ? 'delivered' : 'failed')
    return { type: 'callback_ended', work }
  }
}

/** Without what it takes from Secrets, a call would be refused, or be trusted by the wrong receiver: it is not made. */
function jobCall(
  work: ClaimedJob,
  {
    teams,
    jobIds,
    timestampSeconds,
  }: Pick<CallRunnerOptions, 'teams' | 'jobIds'> & { readonly timestampSeconds: number },
): HttpCall | { readonly missing: string } {
  const part = secretPartOf(work, teams)
  if (part.kind === 'missing') return { missing: part.message }
  const { request } = work
  return {
    team: work.team,
    settings: part.settings,
    url: request.url,
    method: request.method,
    headers: part.headers,
    body: request.payload,
    sought: soughtTexts(work.settings.successAssertions),
    timeoutMs: work.settings.timeoutSeconds * 1000,
    webhookId: jobIds.uuidOf(work.rootId),
    timestampSeconds,
    identity: {
      'Job-Id': String(work.jobId),
      Attempt: String(work.attempt),
      'Fencing-Token': `${work.shard}-${work.token}`,
      Depth: String((request.callDepth ?? 0) + 1),
    },
  }
}

function callbackCall(
  { team, callback, timeoutSeconds }: ClaimedCallback,
  settings: TeamSettings,
  timestampSeconds: number,
): HttpCall {
  return {
    team,
    settings,
    url: callback.url,
    method: 'POST',
    headers: {},
    body: callback.body,
    sought: [],
    timeoutMs: timeoutSeconds * 1000,
    webhookId: callback.webhookId,
    timestampSeconds,
    identity: { Depth: String((callback.callDepth ?? 0) + 1) },
  }
}

/** A defect of ours fails the attempt: if the job were released, it would run forever. */
async function makeCall(
  { caller, logger }: CallRunnerOptions,
  call: HttpCall,
  signal: AbortSignal,
): Promise<HttpCallResult> {
  try {
    return await caller.call(call, signal)
  } catch (error) {
    logger.error('A call ended in a defect', { reason: reasonOf(error) })
    return notMade('The call could not be made.')
  }
}

function notMade(message: string): HttpCallResult {
  return {
    ...{ kind: 'failed', reason: 'unknown', message, durationMs: 0, requestHeaders: [] },
    timings: { dnsMs: null, connectMs: null, tlsMs: null, firstByteMs: null, bodyMs: null },
  }
}

function endJob(
  { jobIds, keepsSuccess }: CallRunnerOptions,
  work: ClaimedJob,
  result: EndedCall,
  nowMs: number,
): WorkEnd {
  const judgement = judgeCall(result, work.settings)
  const end = endAttempt(work, {
    ...judgement,
    completedAtMs: Math.max(nowMs, work.startedAtMs),
    durationMs: Math.round(result.durationMs),
  })
  const isKept =
    judgement.failureReason !== null || keepsSuccess(work.team, `${work.shard}:${work.location.queue}`)
  return {
    type: 'ended',
    work,
    end,
    callback: callbackFor({
      rootId: work.rootId,
      attempt: work.attempt,
      request: work.request,
      events: work.settings.callbackEvents,
      end,
      jobIds,
    }),
    call: isKept ? recordCall(work, result, judgement) : null,
  }
}
