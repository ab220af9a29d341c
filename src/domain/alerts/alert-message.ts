import type { FailureReason } from '../jobs/job.ts'
import type { AttemptEnd } from '../jobs/retry-policy.ts'
import {
  CIRCUIT_REASON,
  LIMIT_REASONS,
  LOSS_REASON,
  type Alert,
  type AlertReason,
  type LimitReason,
} from './alert.ts'
import { limitMessage } from './limit-message.ts'

/** Values that fill in an alert's message, beside the rest of the alert. */
export type AlertFacts = ReadonlyArray<string | number>

/** Ends of a chain, encoded in place of the seconds until its retry. */
const NEXT = { deadLetter: 0, nothing: -1 } as const

/** Facts of a queue's alert: the attempt, its response status or 0, what follows, and the host that was called. */
export function queueFacts(
  attempt: number,
  { kind, attempts, retryDelaySeconds }: AttemptEnd,
  url: string,
): AlertFacts {
  const follows =
    kind === 'retry' ? Math.ceil(retryDelaySeconds) : kind === 'dead_letter' ? NEXT.deadLetter : NEXT.nothing
  return [attempt, attempts.at(-1)?.responseStatus ?? 0, follows, calledHost(url)]
}

/** Facts like `queueFacts`, of a job that became a dead letter without the end of an attempt. */
export function deadLetterFacts(attempt: number, url: string): AlertFacts {
  return [attempt, 0, NEXT.deadLetter, calledHost(url)]
}

/** Host and port that a message may name: the rest of a URL can hold secrets. '' = the URL has none. */
export function calledHost(url: string): string {
  return URL.parse(url)?.host ?? ''
}

type AlertSubject = Pick<Alert, 'type' | 'reason' | 'resource' | 'jobId'>

/** A sentence for people. Facts that are missing are left out. */
export function alertMessage(alert: AlertSubject, facts: AlertFacts): string {
  const { reason, resource } = alert
  if (isLimit(reason)) return limitMessage(resource.name, reason, facts)
  if (reason === LOSS_REASON) return lossMessage(resource, facts)
  if (reason === CIRCUIT_REASON) return breakerMessage(alert, facts)
  return resource.kind === 'cron' ? cronMessage(alert, facts) : queueMessage(alert, facts)
}

/** Facts of a breaker that turns: the host that was called, and why the call failed, '' = it did not. */
export function breakerFacts(url: string, reason: FailureReason | null): AlertFacts {
  return [calledHost(url), reason ?? '']
}

function breakerMessage({ type, resource }: AlertSubject, [host = '', reason = '']: AlertFacts): string {
  const target = host === '' ? 'its target' : String(host)
  return type === 'recovery'
    ? `Queue ${resource.name} calls ${target} again: it has answered the job that tried it.`
    : `Queue ${resource.name} has stopped calling ${target}: too many of its calls fail (${reason}, most recently). Its jobs wait, and one tries again from time to time.`
}

/** Facts of a loss: the queue's name ('' = it is not known of which queues), and when its lost jobs were accepted, first and last, in Unix ms. */
export function lossFacts(queue: string, fromMs: number, toMs: number): AlertFacts {
  return [queue, fromMs, toMs]
}

/** A queue that went with its jobs is told to its team, and what is told within a minute is one alert. */
function lossMessage({ kind, name }: Alert['resource'], facts: AlertFacts): string {
  const [queue = name, from = 0, to = 0] = facts
  const [first, last] = [from, to].map((ms) => new Date(Number(ms)).toISOString())
  if (queue === '')
    return `Redis came back with an older copy of its data: what it had answered from ${first} to ${last} is gone. Push again what was accepted then. Other jobs may be called twice.`
  const what = kind === 'team' ? `queue ${queue}, or others, and their jobs` : `jobs of queue ${queue}`
  return `Redis came back without ${what} that were accepted from ${first} to ${last}: push them again. Others may be called twice.`
}

function isLimit(reason: AlertReason): reason is LimitReason {
  return LIMIT_REASONS.includes(reason as LimitReason)
}

function queueMessage({ type, reason, resource, jobId }: AlertSubject, facts: AlertFacts): string {
  const [attempt = 1, status = 0, next = NEXT.nothing] = facts.slice(0, 3).map(Number)
  const why = status === 0 ? reason : `${reason}, status ${status}`
  const what = `Job ${jobId} of queue ${resource.name} failed at attempt ${attempt} (${why}${place(facts[3])})`
  if (type === 'warning' && next > 0) return `${what}; it is tried again in ${next} s.`
  return next === NEXT.deadLetter ? `${what} and is a dead letter.` : `${what}; it has no retries.`
}

function cronMessage({ type, reason, resource }: AlertSubject, facts: AlertFacts): string {
  const [failures = 1, threshold = 1] = facts.slice(0, 2).map(Number)
  const times = failures === 1 ? 'once' : `${failures} times in a row`
  if (type === 'recovery') return `Cron ${resource.name} succeeded after it had failed ${times} (${reason}).`
  const what = `Cron ${resource.name} failed ${times} (${reason}${place(facts[2])})`
  return type === 'warning' ? `${what}; a failure is raised at ${threshold}.` : `${what}.`
}

function place(host: string | number | undefined): string {
  return host === undefined || host === '' ? '' : ` at ${host}`
}
