import { breakerFacts, type AlertFacts } from '../../../../domain/alerts/alert-message.ts'
import type { FailureReason, JobRequest } from '../../../../domain/jobs/job.ts'
import type { ClaimedJob } from '../../../../ports/jobs.ts'

/** What the end of an attempt says of its target. */
export interface TargetNote {
  /** Whether it works; null = nobody knows, or the attempt succeeded, which says it anyway. */
  readonly works: boolean | null
  /** null = it does not ask. */
  readonly askedMs: number | null
}

export const NO_TARGET_NOTE: TargetNote = Object.freeze({ works: null, askedMs: null })

export interface BreakerAlert {
  readonly team: string
  readonly queueName: string
  /** That it opens, or that it closes. */
  readonly type: 'warning' | 'recovery'
  readonly facts: AlertFacts
}

/** @param reason null = the attempt succeeded @param askedMs for how long the target asks to be left alone */
export function targetNote(reason: FailureReason | null, askedMs: number | null): TargetNote {
  return reason === null ? NO_TARGET_NOTE : { works: targetWorks(reason), askedMs }
}

/** What the breaker raises if it turns with this end: it opens with a failure of the target, and closes with its probe. */
export function breakerAlert(
  job: {
    readonly team: string
    readonly queueName: string
    readonly request: Pick<JobRequest, 'url'>
    readonly settings: { readonly alertsEnabled: boolean }
    readonly breaker?: ClaimedJob['breaker']
  },
  { works }: TargetNote,
  reason: FailureReason | null,
): BreakerAlert | null {
  const { team, queueName, request, settings, breaker } = job
  if (breaker === undefined || !settings.alertsEnabled) return null
  const facts = breakerFacts(request.url, reason)
  if (works === false) return { team, queueName, type: 'warning', facts }
  const mayClose = breaker === 'probes' && (reason === null || works === true)
  return mayClose ? { team, queueName, type: 'recovery', facts } : null
}

/** The target does not work. */
const OF_TARGET: ReadonlySet<FailureReason> = new Set([
  'timeout',
  'connection_error',
  'dns_error',
  'ssl_error',
  'http_server_error',
])

/** A target that works has answered, though not as the job wants it. */
const ANSWERED: ReadonlySet<FailureReason> = new Set([
  'http_redirect',
  'http_client_error',
  'assertion_failed',
])

/** What a failure says of the target: whether it works; null = nothing, as no call was made or nobody knows how it ended. */
function targetWorks(reason: FailureReason): boolean | null {
  if (OF_TARGET.has(reason)) return false
  return ANSWERED.has(reason) ? true : null
}
