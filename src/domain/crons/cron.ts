import type { SuccessAssertion } from '../jobs/assertion.ts'
import { parseCronExpression } from './cron-expression.ts'
import { CronSchedule } from './cron-schedule.ts'
import type { MissedRunPolicy } from './cron-tick.ts'
import type { Method } from '../jobs/job.ts'
import type { RecordedResponses } from '../jobs/queue-settings.ts'
import { timeZoneOf } from './time-zone.ts'
import { noTimeZone } from './zone-problem.ts'

/** Whether a tick may start a run while an earlier run of the cron has not ended. */
export type ConcurrencyPolicy = 'allow' | 'forbid'

/** Schedule and request of a cron. */
export interface CronSettings {
  /** Name for people; need not be unique. */
  readonly displayName: string
  readonly url: string
  readonly method: Method
  readonly headers: Readonly<Record<string, string>>
  /** Sent exactly as written; null = no body. */
  readonly payload: string | null
  /** Receives how each run ended. */
  readonly callbackUrl: string | null
  /** Five fields. */
  readonly cronExpression: string
  /** IANA name. */
  readonly timeZone: string
  /** false = paused: no ticks, runs in flight end normally. */
  readonly isActive: boolean
  readonly concurrencyPolicy: ConcurrencyPolicy
  readonly missedRunPolicy: MissedRunPolicy
  /** 1–86,400; a tick that could not start for this long is missed. null = see `lateRunMax`. */
  readonly startingDeadlineSeconds: number | null
  /** 0–3,600; crons are spread over this long after their ticks, each by a fixed delay. */
  readonly jitterSeconds: number
  /** The queue to run through, with its parallelism, retries and dead letters; null = a hidden one without retries. */
  readonly queue: string | null
  /** 1–300, for the whole call. */
  readonly timeoutSeconds: number
  /** All must hold in addition to a 2xx status; if empty, the queue's assertions apply. */
  readonly successAssertions: readonly SuccessAssertion[]
  /** 1–3; the number of failures in a row that raises an alert. */
  readonly alertThreshold: number
  /** `all`: as its queue says. */
  readonly recordResponses: RecordedResponses
  /** `metadata.name`, if signing secrets of the cron's own sign its calls; null = those of its queue or team do. */
  readonly signer: string | null
}

export const CRON_NAME_CHARACTERS_MAX = 255
export const CRON_PAYLOAD_CHARACTERS_MAX = 262_144
export const STARTING_DEADLINE_SECONDS_MAX = 86_400
export const JITTER_SECONDS_MAX = 3_600
export const ALERT_THRESHOLD_MAX = 3

/** Every setting that has a default. */
export const DEFAULT_CRON_SETTINGS: Omit<CronSettings, 'displayName' | 'url' | 'cronExpression'> =
  Object.freeze({
    method: 'POST',
    headers: Object.freeze({}),
    payload: null,
    callbackUrl: null,
    timeZone: 'UTC',
    isActive: true,
    concurrencyPolicy: 'allow',
    missedRunPolicy: 'latest',
    startingDeadlineSeconds: null,
    jitterSeconds: 0,
    queue: null,
    timeoutSeconds: 30,
    successAssertions: Object.freeze([]),
    alertThreshold: 1,
    recordResponses: 'all',
    signer: null,
  })

/** Names the field that is wrong and the problem, as the end of a sentence. */
export interface CronFieldProblem {
  readonly field: 'cronExpression' | 'timeZone'
  readonly problem: string
}

/** The schedule of a cron with these settings, or what is wrong with them. */
export function cronScheduleOf({
  cronExpression,
  timeZone,
}: Pick<CronSettings, 'cronExpression' | 'timeZone'>): CronSchedule | CronFieldProblem {
  const expression = parseCronExpression(cronExpression)
  if ('problem' in expression) return { field: 'cronExpression', problem: expression.problem }
  const zone = timeZoneOf(timeZone)
  if (zone === null) return { field: 'timeZone', problem: noTimeZone(timeZone) }
  return new CronSchedule(expression, zone)
}

/** A prime near 2^32 divided by the golden ratio: it puts neighbouring ids far apart. */
const SPREAD_FACTOR = 2_654_435_761

/** How long after its ticks a cron runs, ms: always the same for one cron, evenly spread over many. */
export function spreadOf(cronId: number, jitterSeconds: number): number {
  const hashed = Math.imul(cronId, SPREAD_FACTOR) >>> 0
  return Math.floor((hashed / 2 ** 32) * jitterSeconds * 1000)
}
