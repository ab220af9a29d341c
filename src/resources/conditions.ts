import { excerpt } from '../domain/excerpt.ts'
import type { Condition } from './generated/kinds.ts'

/** The reasons of the conditions that every kind has. */
interface SharedReasons {
  readonly Reconciling: 'ProgressingWithRetry'
  readonly Stalled: 'InvalidSpec' | 'ReconcileError'
}

/** The reasons why a resource of any kind may or may not be ready. */
type SharedReadyReason = 'Reconciled' | 'ReconcileError' | 'BackendUnavailable'

/** The reasons why a Secret that is named cannot be used. */
export type SecretReason = 'SecretNotFound' | 'SecretKeyNotFound' | 'SecretNotUsable' | 'SecretForbidden'
/** The reasons why the own secrets of a queue or cron cannot be used. */
export type OwnSecretsReason = SecretReason | 'SecretsTooLarge'

/** The reasons of each kind, by condition. Users look them up and scripts test them, so they stay stable. */
export interface ReasonsOf {
  readonly HttpQueue: SharedReasons & {
    readonly Ready: SharedReadyReason | 'InvalidSpec' | 'NameTaken' | OwnSecretsReason
    readonly Dispatching: 'Active' | 'Paused'
    /** Present while the queue takes no new jobs. */
    readonly Draining: 'Draining' | 'Drained'
    /** Present for a while after the engine was found empty, to hold older data, or without jobs of the queue. */
    readonly JobsLost: 'EngineLost' | 'EngineRestored' | 'AcceptedJobsLost'
    /** Present while Redis is set or able to lose jobs. */
    readonly JobsAtRisk: 'RedisUnsafe'
    /** Present once a failure was raised. */
    readonly Failing: 'FailureRaised' | 'NoRecentFailure'
    /** Present while the queue has a setting that may throttle it. */
    readonly Throttled: 'RateLimited' | 'TargetAsksToWait' | 'CircuitOpen' | 'NotThrottled'
    /** Present while no call can succeed. */
    readonly CanSucceed: 'AssertionNeverHolds'
  }
  readonly HttpCron: SharedReasons & {
    readonly Ready: SharedReadyReason | 'InvalidSpec' | 'TargetBlocked' | 'QuotaExceeded' | OwnSecretsReason
    readonly Scheduled:
      | 'Scheduled'
      | 'Paused'
      | 'InvalidSpec'
      | 'ImpossibleSchedule'
      | 'UnknownTimeZone'
      | 'TargetBlocked'
      | 'QuotaExceeded'
    /** Present once a failure was raised. */
    readonly Failing: 'FailureRaised' | 'Recovered'
    /** Present while no call can succeed. */
    readonly CanSucceed: 'AssertionNeverHolds'
    /** Present while the cron names a queue. */
    readonly QueueFound: 'Found' | 'NotFound'
  }
  readonly TeamSettings: SharedReasons & {
    readonly Ready: SharedReadyReason | 'InvalidSpec' | SecretReason
    /** Present while the team has channels, and says whether all of them can be used. */
    readonly NotificationsReady:
      | 'Reconciled'
      | 'SecretNotFound'
      | 'SecretKeyNotFound'
      | 'SecretNotUsable'
      | 'SecretForbidden'
      | 'ChannelUrlNotAllowed'
      | 'ChannelFailing'
    /** Present while the team has header secrets, and says whether all of them can be sent. */
    readonly HeaderSecretsReady: 'Reconciled' | SecretReason
    /** Present while the installation does not let the team open what it asks for. */
    readonly EgressAllowed: 'NotAllowable'
    /** Present while pushed queues have no resource. */
    readonly PushedQueues: 'TooMany'
  }
  readonly MaintenanceWindow: SharedReasons & {
    readonly Ready: SharedReadyReason | 'InvalidSpec' | 'TooManyWindows'
    /** Present while the window names a queue or cron. */
    readonly ResourceFound: 'Found' | 'NotFound'
  }
  readonly ApiToken: SharedReasons & {
    readonly Ready: SharedReadyReason | 'HashTaken'
  }
}

export type ReconciledKind = keyof ReasonsOf

/** A condition as a reconciler wants it. */
export type WantedCondition<Kind extends ReconciledKind> = {
  [Type in keyof ReasonsOf[Kind] & string]: {
    readonly type: Type
    readonly status: Condition['status']
    readonly reason: ReasonsOf[Kind][Type] & string
    readonly message: string
  }
}[keyof ReasonsOf[Kind] & string]

/**
 * These conditions are present only while `True`, because kstatus and `kubectl wait` take their absence for success.
 */
const ABNORMAL_TRUE: ReadonlySet<string> = new Set(['Reconciling', 'Stalled'])
/** The CRDs allow more, but longer messages are hard to read in a terminal. */
const MESSAGE_CHARACTERS_MAX = 1_024

/**
 * Makes the whole list to write, sorted by type, with the time at which each status last changed. Conditions that are
 * no longer wanted are left out, and so are `Reconciling` and `Stalled` unless they are `True`.
 * @param before the conditions of the object, including those of other writers, which are left out
 * @param seen the generation of the spec that was reconciled
 */
export function mergeConditions<Kind extends ReconciledKind>(
  before: readonly Condition[],
  wanted: ReadonlyArray<WantedCondition<Kind>>,
  seen: { readonly generation: number; readonly wallMs: number },
): readonly Condition[] {
  const former = new Map(before.map((condition) => [condition.type, condition]))
  return wanted
    .filter(({ type, status }) => !ABNORMAL_TRUE.has(type) || status === 'True')
    .map(({ type, status, reason, message }) => {
      const same = former.get(type)
      return {
        type,
        status,
        observedGeneration: seen.generation,
        lastTransitionTime: same?.status === status ? same.lastTransitionTime : kubernetesTime(seen.wallMs),
        reason,
        message: excerpt(message, MESSAGE_CHARACTERS_MAX),
      }
    })
    .sort((a, b) => (a.type < b.type ? -1 : 1))
}

/**
 * Tells whether two statuses are equal, so that no write is due. Fields may have any order, and undefined equals
 * absent.
 */
export function isSameStatus(before: unknown, after: unknown): boolean {
  if (Object.is(before, after)) return true
  if (!isObject(before) || !isObject(after)) return false
  if (Array.isArray(before) !== Array.isArray(after)) return false
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...names].every((name) => isSameStatus(before[name], after[name]))
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

/**
 * Writes RFC 3339 in whole seconds, as the API server stores it. With milliseconds a status would differ from what was
 * written.
 */
export function kubernetesTime(wallMs: number): string {
  return new Date(wallMs).toISOString().replace(/\.\d{3}Z$/, 'Z')
}
