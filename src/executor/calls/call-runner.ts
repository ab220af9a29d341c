import { soughtTexts } from '../../domain/jobs/assertion.ts'
import type { JobIds } from '../../domain/jobs/job-ids.ts'
import type { EndedCall, HttpCall, HttpCaller, HttpCallResult } from '../../ports/http-caller.ts'
import type { ClaimedCallback, ClaimedJob, ClaimedWork, WorkEnd } from '../../ports/jobs.ts'
import type { Metrics } from '../../ports/metrics.ts'
import type { OwnSecretsSource } from '../../ports/access/own-secrets.ts'
import { maskedHeadersOf, type TeamSettingsSource } from '../../ports/settings.ts'
import type { NoteDefect } from '../defect-notes.ts'
import { endJob } from './attempt-end.ts'
import { bodyOf, defaultContentType } from './job-body.ts'
import { secretPartOf } from './own-settings.ts'

/** Makes the call of claimed work and answers how the work ends. Never throws. `redisNowMs` reads the shard's time. */
export type CallRunner = (
  work: ClaimedWork,
  signal: AbortSignal,
  redisNowMs: () => number,
) => Promise<WorkEnd>

export interface CallRunnerOptions {
  /** As of `ExecutorOptions`. */
  readonly aheadMs?: () => number
  readonly caller: HttpCaller
  readonly teams: TeamSettingsSource & OwnSecretsSource
  readonly jobIds: JobIds
  readonly metrics: Metrics
  readonly noteDefect: NoteDefect
  /** 0–1. */
  random(): number
  /** Whether a successful call of the queue is recorded. @param queue with its shard */
  keepsSuccess(team: string, queue: string): boolean
  /** This machine cannot open any connection: further claims would fail in the same way. */
  onLocalFault(): void
}

/**
 * A defect of ours, wherever it shows, fails the attempt: if the job were released, its call would be made again and
 * again. Only what was not sent, or what our own stop cut short, is released.
 */
export function createCallRunner(options: CallRunnerOptions): CallRunner {
  const maskedOf = (team: string) => maskedHeadersOf(options.teams.of(team))
  return async (work, signal, redisNowMs) => {
    if (work.kind === 'damaged') return { type: 'quarantined', work }
    const call = prepareCall(options, work, redisNowMs)
    const result = 'missing' in call ? notMade(call.missing) : await makeCall(options, { work, call, signal })
    if (result.kind === 'local_fault') noteLocalFault(options, work)
    if (result.kind === 'local_fault') return { type: 'released', work }
    if (result.kind === 'aborted') return { type: 'released', work, isCut: true }
    if (work.kind === 'job') return endJob({ ...options, maskedOf }, work, result, redisNowMs)
    countCallback(options, work, result)
    return { type: 'callback_ended', work }
  }
}

type NotMade = { readonly missing: string }

const NOT_PREPARED: NotMade = { missing: 'The call could not be made because of a defect in Punctual.' }

function prepareCall(
  { teams, jobIds, noteDefect, aheadMs = () => 0 }: CallRunnerOptions,
  work: ClaimedJob | ClaimedCallback,
  redisNowMs: () => number,
): HttpCall | NotMade {
  try {
    const timestampSeconds = Math.floor((redisNowMs() - aheadMs()) / 1000)
    return work.kind === 'job'
      ? jobCall(work, { teams, jobIds, timestampSeconds })
      : callbackCall(work, teams, timestampSeconds)
  } catch (error) {
    noteDefect('call', error, work)
    return NOT_PREPARED
  }
}

/**
 * The call of a job. It is not made without the parts that come from Secrets: it would be refused, or be trusted by the
 * wrong receiver.
 */
function jobCall(
  work: ClaimedJob,
  {
    teams,
    jobIds,
    timestampSeconds,
  }: Pick<CallRunnerOptions, 'teams' | 'jobIds'> & { readonly timestampSeconds: number },
): HttpCall | NotMade {
  const { request, settings } = work
  // Another version may write it in another form. Without a deadline a call could hold its slot for ever.
  if (!(Number.isFinite(settings.timeoutSeconds) && settings.timeoutSeconds > 0)) {
    return { missing: 'This executor does not know the timeout of this job.' }
  }
  const part = secretPartOf(work, teams)
  if (part.kind === 'missing') return { missing: part.message }
  return {
    team: work.team,
    settings: part.settings,
    url: request.url,
    method: request.method,
    headers: part.headers,
    body: bodyOf(request),
    contentType: defaultContentType(request),
    sought: soughtTexts(settings.successAssertions),
    timeoutMs: settings.timeoutSeconds * 1000,
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
  teams: TeamSettingsSource,
  timestampSeconds: number,
): HttpCall {
  return {
    team,
    settings: teams.of(team),
    url: callback.url,
    method: 'POST',
    headers: {},
    body: callback.body,
    contentType: 'application/json',
    sought: [],
    timeoutMs: timeoutSeconds * 1000,
    webhookId: callback.webhookId,
    timestampSeconds,
    identity: { Depth: String((callback.callDepth ?? 0) + 1) },
  }
}

async function makeCall(
  { caller, noteDefect }: CallRunnerOptions,
  {
    work,
    call,
    signal,
  }: {
    readonly work: ClaimedJob | ClaimedCallback
    readonly call: HttpCall
    readonly signal: AbortSignal
  },
): Promise<HttpCallResult> {
  try {
    return await caller.call(call, signal)
  } catch (error) {
    noteDefect('call', error, work)
    return notMade('The call was ended by a defect in Punctual.')
  }
}

function notMade(message: string): HttpCallResult {
  return {
    kind: 'failed',
    reason: 'unknown',
    message,
    durationMs: 0,
    requestHeaders: [],
    timings: { dnsMs: null, connectMs: null, tlsMs: null, firstByteMs: null, bodyMs: null },
  }
}

function noteLocalFault({ onLocalFault, noteDefect }: CallRunnerOptions, work: ClaimedWork): void {
  try {
    onLocalFault()
  } catch (error) {
    noteDefect('aside', error, work)
  }
}

function countCallback(
  { metrics, noteDefect }: CallRunnerOptions,
  work: ClaimedCallback,
  result: EndedCall,
): void {
  try {
    const isDelivered = result.kind === 'answered' && result.status >= 200 && result.status < 300
    metrics.callbackFinished(isDelivered ? 'delivered' : 'failed')
  } catch (error) {
    noteDefect('aside', error, work)
  }
}
