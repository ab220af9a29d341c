import { excerpt } from '../domain/excerpt.ts'
import type { Condition } from './generated/kinds.ts'

/** Reasons of the conditions that every kind has. */
interface SharedReasons {
  readonly Reconciling: 'ProgressingWithRetry'
  readonly Stalled: 'InvalidSpec' | 'ReconcileError'
}

/** Why any kind may or may not be ready. */
type SharedReadyReason = 'Reconciled' | 'ReconcileError' | 'BackendUnavailable'

/** A Secret that is named cannot be used. */
export type SecretReason = 'SecretNotFound' | 'SecretKeyNotFound' | 'SecretNotUsable' | 'SecretForbidden'
/** Of the secrets of a queue or cron. */
export type OwnSecretsReason = SecretReason | 'SecretsTooLarge'

/** The reasons of each kind, by condition. Users look them up and scripts test them, so they stay stable. */
export interface ReasonsOf {
  readonly HttpQueue: SharedReasons & {
    readonly Ready: SharedReadyReason | 'InvalidSpec' | 'NameTaken' | OwnSecretsReason
    readonly Dispatching: 'Active' | 'Paused'
    /** Present while the queue takes no new jobs. */
    readonly Draining: 'Draining' | 'Drained'
    /** Present for a while after the engine was found empty or to hold older data. */
    readonly JobsLost: 'EngineLost' | 'EngineRestored'
    /** Present while Redis is set or able to lose jobs. */
    readonly JobsAtRisk: 'RedisUnsafe'
    /** Present once a failure was raised. */
    readonly Failing: 'FailureRaised' | 'NoRecentFailure'
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
    /** Present while the team has channels: whether all of them can be used. */
    readonly NotificationsReady:
      | 'Reconciled'
      | 'SecretNotFound'
      | 'SecretKeyNotFound'
      | 'SecretNotUsable'
      | 'SecretForbidden'
      | 'ChannelUrlNotAllowed'
      | 'ChannelFailing'
    /** Present while the team has header secrets: whether all of them can be sent. */
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

/** Present only while `True`: kstatus and `kubectl wait` take their absence for success. */
const ABNORMAL_TRUE: ReadonlySet<string> = new Set(['Reconciling', 'Stalled'])
/** The CRDs allow more, but a terminal is hard to read then. */
const MESSAGE_CHARACTERS_MAX = 1_024

/**
 * The whole list to write, sorted by type, with the time at which each status last changed. Conditions that are no
 * longer wanted are omitted, and so are `Reconciling` and `Stalled` unless they are `True`.
 * @param before the conditions of the object, including those of other writers, which are omitted
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

/** Whether two statuses are equal, so that no write is due. Fields may have any order, and undefined equals absent. */
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

/** RFC 3339 in whole seconds, as the API server stores it: with milliseconds, a status would differ from what was written. */
export function kubernetesTime(wallMs: number): string {
  return new Date(wallMs).toISOString().replace(/\.\d{3}Z$/, 'Z')
}
