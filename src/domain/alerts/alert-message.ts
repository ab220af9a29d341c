import type { AttemptEnd } from '../jobs/retry-policy.ts'
import { LIMIT_REASONS, type Alert, type AlertReason, type LimitReason } from './alert.ts'
import { limitMessage } from './limit-message.ts'

/** What an alert's message is made of, beside the rest of the alert. */
export type AlertFacts = ReadonlyArray<string | number>

/** What becomes of the chain, in place of the seconds until its retry. */
const NEXT = { deadLetter: 0, nothing: -1 } as const

/** Of an alert of a queue: the attempt, the status of its response or 0, what follows, and the host that was called. */
export function queueFacts(
  attempt: number,
  { kind, attempts, retryDelaySeconds }: AttemptEnd,
  url: string,
): AlertFacts {
  const follows =
    kind === 'retry' ? retryDelaySeconds : kind === 'dead_letter' ? NEXT.deadLetter : NEXT.nothing
  return [attempt, attempts.at(-1)?.responseStatus ?? 0, follows, calledHost(url)]
}

/** As `queueFacts`, of a job that became a dead letter without the end of an attempt. */
export function deadLetterFacts(attempt: number, url: string): AlertFacts {
  return [attempt, 0, NEXT.deadLetter, calledHost(url)]
}

/** Host and port that a message may name: the rest of a URL can hold secrets. '' = the URL has none. */
export function calledHost(url: string): string {
  return URL.parse(url)?.host ?? ''
}

type Told = Pick<Alert, 'type' | 'reason' | 'resource' | 'jobId'>

/** A sentence for people. Facts that are missing are left out. */
export function alertMessage(alert: Told, facts: AlertFacts): string {
  const { reason, resource } = alert
  if (isLimit(reason)) return limitMessage(resource.name, reason, facts)
  return resource.kind === 'cron' ? cronMessage(alert, facts) : queueMessage(alert, facts)
}

function isLimit(reason: AlertReason): reason is LimitReason {
  return LIMIT_REASONS.includes(reason as LimitReason)
}

function queueMessage({ type, reason, resource, jobId }: Told, facts: AlertFacts): string {
  const [attempt = 1, status = 0, next = NEXT.nothing] = facts.slice(0, 3).map(Number)
  const why = status === 0 ? reason : `${reason}, status ${status}`
  const what = `Job ${jobId} of queue ${resource.name} failed at attempt ${attempt} (${why}${place(facts[3])})`
  if (type === 'warning' && next > 0) return `${what}; it is tried again in ${next} s.`
  return next === NEXT.deadLetter ? `${what} and is a dead letter.` : `${what}; it has no retries.`
}

function cronMessage({ type, reason, resource }: Told, facts: AlertFacts): string {
  const [failures = 1, threshold = 1] = facts.slice(0, 2).map(Number)
  const times = failures === 1 ? 'once' : `${failures} times in a row`
  if (type === 'recovery') return `Cron ${resource.name} succeeded after it had failed ${times} (${reason}).`
  const what = `Cron ${resource.name} failed ${times} (${reason}${place(facts[2])})`
  return type === 'warning' ? `${what}; a failure is raised at ${threshold}.` : `${what}.`
}

function place(host: string | number | undefined): string {
  return host === undefined || host === '' ? '' : ` at ${host}`
}
