/** The one checker: a client's log, a target's log and what Redis holds at rest must tell the same story. */
import type { Arrival } from '../../support/targets/target.ts'
import { CALLBACK_PATH, EXPECTED_ENDS, LIMIT, PACE, PUSH_HEADER, RETRY_DELAY_S } from '../load/push-mix.ts'
import type { PushRecord } from '../load/push-record.ts'
import type { AlertCounts } from './alert-counts.ts'
import type { Allowance, Figures, Verdict } from './figures.ts'
import { longestGapMs } from './gaps.ts'

/** How a chain stands when everything has come to rest. */
export interface ChainEnd {
  /** null: it has not ended. */
  readonly finalStatus: string | null
  /** The numbers of its attempts, in order. */
  readonly attempts: readonly number[]
  /** When each attempt began, in Unix ms. */
  readonly startedAtMs: readonly number[]
}

export interface Evidence {
  readonly records: readonly PushRecord[]
  readonly arrivals: readonly Arrival[]
  /** By the number of the push; one whose job is gone is not there. */
  readonly ends: ReadonlyMap<number, ChainEnd>
  /** The most calls of the limited queue that were open at once. */
  readonly mostLimited: number
  /** What the inspection finds. */
  readonly findings: readonly string[]
  readonly forgotten: Forgotten | null
  readonly told: readonly Told[]
  /** Raised meanwhile by the queue of those that fail always. */
  readonly alerts: AlertCounts
  readonly ticks: {
    /** Unix ms. */
    readonly due: readonly number[]
    readonly ticked: readonly CronTicks[]
  }
}

/** What a cron has done. */
export interface CronTicks {
  /** The ticks that had a run, in Unix ms. */
  readonly runs: readonly number[]
  /** Calls of these. */
  readonly calls: number
}

/** Jobs that the program has said are lost. */
export interface Told {
  /** Unix ms. */
  readonly atMs: number
  readonly jobs: number
}

/** A time whose steps Redis may have lost: what it answered in it may be so or not. Unix ms. */
export interface Forgotten {
  readonly fromMs: number
  readonly toMs: number
  /** Whether what was answered with a 201 may be lost, too; if not, only what was stored and answered otherwise, or done. */
  readonly takesAccepted: boolean
}

/** Complaints of a kind that are told in words; the rest is counted. */
const TOLD_MAX = 5
/** What is lost is told so long after Redis is back, at the latest. */
export const TOLD_WITHIN_MS = 10_000
/** How much longer than another a call may be on its way to a target that shares a busy machine with all else. */
const ON_THE_WAY_MS = 500
/** A call may come this long after its claim where the machine is busy, so also after Redis has forgotten the claim. */
const CLAIM_TO_CALL_MS = 5_000
/** By how much the number told may differ from what is lost. */
const TOLD_SLACK = 0.05

export function judge(evidence: Evidence, allowed: Allowance): Verdict {
  const { records, arrivals, findings } = evidence
  const calls = arrivals.filter(({ path }) => path !== CALLBACK_PATH)
  const answered = records.filter(({ status }) => status === 201)
  const forgotten = new Set(answered.filter((one) => isForgotten(one, evidence)))
  const accepted = answered.filter((one) => !forgotten.has(one))
  const refused = records.filter(({ status }) => status !== null && status !== 201)
  const lost = lostAmong(accepted, evidence)
  // A Redis gives ids again that it has forgotten.
  const unclear = new Set([...forgotten].map(({ jobId }) => jobId))
  const early = earlyCalls(accepted, calls)
  const overLimit = Math.max(0, evidence.mostLimited - LIMIT)
  const figures: Figures = {
    accepted: answered.length,
    lost: lost.length + forgotten.size,
    told: evidence.told.reduce((sum, { jobs }) => sum + jobs, 0),
    doubled: [...byAttempt(calls).values()].reduce((sum, { length }) => sum + length - 1, 0),
    early: early.length,
    overLimit,
    leaked: findings.length,
    refused: refused.length,
    unanswered: records.length - answered.length - refused.length,
    longestPushGapMs: longestGapMs(answered.map(({ sentAtMs, tookMs }) => sentAtMs + tookMs)),
    longestCallGapMs: longestGapMs(arrivals.map(({ arrivedAtMs }) => arrivedAtMs)),
    slowestRefusalMs: refused.length === 0 ? null : Math.round(Math.max(...refused.map((one) => one.tookMs))),
  }
  const complaints = [
    ...told(
      'lost',
      lost.map(({ jobId }) => `job ${jobId}`),
    ),
    ...wronglyTold(forgotten.size, evidence),
    ...told('called early', early),
    ...(overLimit > allowed.overLimit ? [`${overLimit} calls over the limit of ${LIMIT}`] : []),
    ...told('begun too fast', overPace(accepted, evidence)),
    ...told('called too fast', bunched(accepted, evidence)),
    ...told('called too often', tooOften(calls, allowed.moreCalls)),
    ...told('called twice by one claim', calledTwice(calls, evidence.forgotten)),
    ...told('not as accepted', strangeCalls(calls, evidence)),
    ...told('ended wrongly', wrongEnds(accepted, evidence)),
    ...told('reported wrongly', wrongCallbacks(accepted, { arrivals, unclear, most: 1 + allowed.moreCalls })),
    ...told('refused wrongly', refused.flatMap(wrongRefusal)),
    ...told('ticked wrongly', wrongTicks(evidence, allowed.moreCalls)),
    ...wrongAlerts(accepted, evidence),
    ...told('left behind', findings),
  ]
  return { figures, complaints }
}

function told(what: string, items: readonly string[]): string[] {
  const more = items.length > TOLD_MAX ? [`${what}: ${items.length - TOLD_MAX} more`] : []
  return [...items.slice(0, TOLD_MAX).map((item) => `${what}: ${item}`), ...more]
}

function lostAmong(accepted: readonly PushRecord[], { ends }: Evidence): PushRecord[] {
  return accepted.filter(({ draw }) => (ends.get(draw.n)?.finalStatus ?? null) === null)
}

/** The program has to tell of what is lost, in time and as many as there are, and of nothing else. */
function wronglyTold(lost: number, { forgotten, told: all }: Evidence): string[] {
  const isOfLoss = ({ atMs }: Told) =>
    forgotten !== null && atMs >= forgotten.fromMs && atMs <= forgotten.toMs + TOLD_WITHIN_MS
  const said = all.filter(isOfLoss).reduce((sum, { jobs }) => sum + jobs, 0)
  const wrong =
    Math.abs(said - lost) <= lost * TOLD_SLACK ? [] : [`${said} jobs are told as lost, ${lost} are`]
  const groundless = all.filter((one) => !isOfLoss(one))
  return [...wrong, ...groundless.map(({ jobs }) => `${jobs} jobs are told as lost at another time`)]
}

/** Calls of jobs by push and attempt. */
function byAttempt(calls: readonly Arrival[]): Map<string, Arrival[]> {
  return Map.groupBy(calls, (call) => `push ${call.headers[PUSH_HEADER]}, attempt ${call.attempt}`)
}

/** The clock of the target is read after the call has come, and a retry counts from a moment after the first call. */
function earlyCalls(accepted: readonly PushRecord[], calls: readonly Arrival[]): string[] {
  const ofPush = Map.groupBy(calls, (call) => Number(call.headers[PUSH_HEADER]))
  return accepted.flatMap(({ draw, jobId: acceptedAs, scheduledAtMs }) => {
    const own = ofPush.get(draw.n) ?? []
    const first = own.filter(({ attempt }) => attempt === 1)
    const firstAtMs = Math.min(...first.map(({ arrivedAtMs }) => arrivedAtMs))
    const dueMs = (attempt: number | null) =>
      attempt === 1 ? (scheduledAtMs ?? 0) : firstAtMs + RETRY_DELAY_S * 1_000
    return own
      .filter(({ attempt, jobId }) => attempt !== 1 || jobId === acceptedAs)
      .filter(({ attempt, arrivedAtMs }) => arrivedAtMs < dueMs(attempt))
      .map((call) => `push ${draw.n}, attempt ${call.attempt}, ${dueMs(call.attempt) - call.arrivedAtMs} ms`)
  })
}

/** By the time of Redis from which each might begin, no more begin in any span of the period than the rate allows. */
function overPace(accepted: readonly PushRecord[], evidence: Evidence): string[] {
  const starts = accepted
    .filter(({ draw }) => draw.kind === 'paced')
    .flatMap(({ draw }) => evidence.ends.get(draw.n)?.startedAtMs ?? [])
  return closerThanPace(starts, PACE.period_seconds * 1_000, evidence)
}

/** The target sees the rate as well, but for what calls take on their way to it. */
function bunched(accepted: readonly PushRecord[], evidence: Evidence): string[] {
  const paced = new Set(
    accepted.filter(({ draw }) => draw.kind === 'paced').map(({ draw }) => String(draw.n)),
  )
  const arrivals = evidence.arrivals
    .filter(({ path, headers }) => path !== CALLBACK_PATH && paced.has(String(headers[PUSH_HEADER])))
    .map(({ arrivedAtMs }) => arrivedAtMs)
  return closerThanPace(arrivals, PACE.period_seconds * 1_000 - ON_THE_WAY_MS, evidence)
}

/** Finds a job more than the limit in less than a span, but for one that touches what a Redis has forgotten. */
function closerThanPace(times: readonly number[], spanMs: number, { forgotten }: Evidence): string[] {
  const { limit } = PACE
  const sorted = times.toSorted((a, b) => a - b)
  return sorted.flatMap((lastMs, at) => {
    const firstMs = sorted[at - limit]
    if (firstMs === undefined || lastMs - firstMs >= spanMs) return []
    const isForgotten = forgotten !== null && lastMs >= forgotten.fromMs && firstMs <= forgotten.toMs
    return isForgotten ? [] : [`${limit + 1} jobs in ${lastMs - firstMs} ms`]
  })
}

function tooOften(calls: readonly Arrival[], more: number): string[] {
  return [...byAttempt(calls)]
    .filter(([, { length }]) => length > 1 + more)
    .map(([name, { length }]) => `${name}: ${length} calls`)
}

/** Under way when Redis may have forgotten it. */
function isUnclear({ sentAtMs, tookMs }: PushRecord, forgotten: Forgotten | null): boolean {
  return forgotten !== null && sentAtMs + tookMs >= forgotten.fromMs && sentAtMs <= forgotten.toMs
}

/** Gone, and accepted when Redis may have forgotten it. What is there has to be as it should. */
function isForgotten(record: PushRecord, { ends, forgotten }: Evidence): boolean {
  return forgotten?.takesAccepted === true && isUnclear(record, forgotten) && !ends.has(record.draw.n)
}

/** A claim is called once whatever happens: its executor does not know what became of a call that broke off. */
function calledTwice(calls: readonly Arrival[], forgotten: Forgotten | null): string[] {
  // A claim that Redis has forgotten is made again under its token.
  const kept = calls.filter(
    ({ arrivedAtMs: atMs }) =>
      forgotten === null || atMs < forgotten.fromMs || atMs > forgotten.toMs + CLAIM_TO_CALL_MS,
  )
  const byClaim = Map.groupBy(kept, ({ jobId, token }) => `job ${jobId} under ${token}`)
  return [...byClaim].filter(([, { length }]) => length > 1).map(([name]) => name)
}

/** A push makes one job, whether or not its answer came; one that was refused for good makes none. */
function strangeCalls(calls: readonly Arrival[], { records, ends, forgotten }: Evidence): string[] {
  const sendings = Map.groupBy(records, ({ draw }) => String(draw.n))
  const ofPush = Map.groupBy(calls, (call) => call.headers[PUSH_HEADER] ?? 'nobody')
  return [...ofPush].flatMap(([n, own]) => {
    const sent = sendings.get(n)
    if (sent === undefined) return [`push ${n} was called and not sent`]
    const jobs = new Set(own.filter(({ attempt }) => attempt === 1).map(({ jobId }) => jobId))
    const acceptedAs = sent.find(({ draw, status }) => status === 201 && ends.has(draw.n))?.jobId ?? null
    // A job that Redis has forgotten may have been called, and its push made another one when it was sent again.
    const jobsMax = sent.some((one) => isUnclear(one, forgotten)) ? 2 : 1
    const isStrange = jobs.size > jobsMax || (acceptedAs !== null && !jobs.has(acceptedAs))
    if (isStrange) return [`push ${n} is job ${acceptedAs} and was called as ${[...jobs].join(', ')}`]
    const isRefused = sent.every(({ status }) => status !== null && status < 500 && status !== 201)
    return isRefused ? [`push ${n} was refused and called`] : []
  })
}

function wrongEnds(accepted: readonly PushRecord[], { ends }: Evidence): string[] {
  const ids = new Set(accepted.map(({ jobId }) => jobId))
  const shared = ids.size < accepted.length ? [`${accepted.length} pushes have ${ids.size} ids`] : []
  const wrong = accepted.flatMap(({ draw, jobId }) => {
    const end = ends.get(draw.n)
    if (end === undefined || end.finalStatus === null) return []
    const expected = EXPECTED_ENDS[draw.kind]
    const attempts = Array.from({ length: expected.attempts }, (_, at) => at + 1).join()
    if (end.finalStatus === expected.end && end.attempts.join() === attempts) return []
    return [`job ${jobId} (${draw.kind}) as ${end.finalStatus} with the attempts ${end.attempts.join()}`]
  })
  return [...shared, ...wrong]
}

interface CallbackView {
  readonly arrivals: readonly Arrival[]
  readonly unclear: ReadonlySet<number | null>
  readonly most: number
}

function wrongCallbacks(
  accepted: readonly PushRecord[],
  { arrivals, unclear, most }: CallbackView,
): string[] {
  const reports = arrivals.filter(({ path }) => path === CALLBACK_PATH)
  const ofJob = Map.groupBy(reports, ({ body }) => (JSON.parse(body) as { job_number: number }).job_number)
  return accepted.flatMap(({ draw, jobId }) => {
    const count = ofJob.get(jobId ?? 0)?.length ?? 0
    const isRight = draw.isCalledBack ? count >= 1 && count <= most : count === 0
    return isRight || unclear.has(jobId) ? [] : [`job ${jobId} by ${count} callbacks`]
  })
}

function wrongRefusal({ draw, status, saysWhen }: PushRecord): string[] {
  if ((status === 503 || status === 429) && saysWhen) return []
  return [`push ${draw.n} by ${status}${saysWhen ? '' : ' without Retry-After'}`]
}

/** An alert is stored with its cause: each is raised once, whatever is sent twice. A push that was not accepted may be a job. */
function wrongAlerts(accepted: readonly PushRecord[], { records, alerts }: Evidence): string[] {
  const countDead = (of: readonly PushRecord[]) =>
    new Set(of.filter(({ draw }) => draw.kind === 'dead').map(({ draw }) => draw.n)).size
  const [least, most] = [countDead(accepted), countDead(records)]
  return Object.entries(alerts)
    .filter(([, count]) => count < least || count > most)
    .map(([type, count]) => `${count} alerts of the type ${type}, not ${least} to ${most}`)
}

/** A tick is one run, and a run one call, but for what a fault hits in flight. */
function wrongTicks({ ticks }: Evidence, more: number): string[] {
  return ticks.ticked.flatMap(({ runs, calls }, at) => {
    const missing = ticks.due.filter((tick) => !runs.includes(tick))
    const [least, most] = [runs.length, runs.length * (1 + more)]
    return [
      ...missing.map((tick) => `cron ${at} has no run of ${new Date(tick).toISOString()}`),
      ...(new Set(runs).size < runs.length ? [`cron ${at} has runs of ${runs.join(', ')}`] : []),
      ...(calls < least || calls > most ? [`cron ${at} by ${calls} calls of ${runs.length} runs`] : []),
    ]
  })
}
