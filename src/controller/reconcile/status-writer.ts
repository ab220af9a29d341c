import { isOutage, ResourceApiError, StorageFullError, StoreUnavailableError } from '../../domain/errors.ts'
import type { ControllerMetrics } from '../../ports/metrics.ts'
import { isSameStatus } from '../../resources/conditions.ts'
import type { Condition } from '../../resources/generated/kinds.ts'
import { refOf, type ConditionedObject } from '../kinds.ts'
import { failedStatus } from './failed-status.ts'
import { ignoreNotFound } from './ignore-not-found.ts'
import type { Unavailable } from './ready-conditions.ts'
import type { ReconcilerParts } from './reconciler-parts.ts'

/** A change of these conditions is an event. */
const WITH_EVENTS = [
  'Ready',
  'NotificationsReady',
  'HeaderSecretsReady',
  'EgressAllowed',
  'CanSucceed',
] as const

/** These reasons are no events, because an outage or a full quota would cause one for every resource. */
const WITHOUT_EVENT: ReadonlySet<string> = new Set(['Reconciled', 'BackendUnavailable', 'QuotaExceeded'])

/** These conditions are trouble while they are true for this reason: a target that asks to wait is none, say. */
const TROUBLES = [
  { type: 'Failing', reason: 'FailureRaised' },
  { type: 'Throttled', reason: 'CircuitOpen' },
] as const

/** Says what happens to a changed spec once Redis can be written to. */
export const CHANGE_PENDING = 'settings applied earlier stay, and the current ones are applied'

type Status = NonNullable<ConditionedObject['status']>

export interface StatusWriterOptions<T extends ConditionedObject, Outcome> extends Pick<
  ReconcilerParts<T>,
  'writer' | 'engine' | 'events' | 'clock' | 'metrics'
> {
  readonly kind: Parameters<ControllerMetrics['statusWritten']>[0]
  /** Names the reconcile in events, such as `ApplyQueue`. */
  readonly action: string
  /** Says what happens to the resource once Redis can be written to, up to the word "when". */
  readonly pending: (object: T) => string
  /** Builds the whole status, which equals the one before if nothing has changed. */
  readonly statusOf: (object: T, outcome: Outcome | Unavailable) => Status
}

/** The one place that writes the status of a kind, counts the write and emits the event. */
export class StatusWriter<T extends ConditionedObject, Outcome> {
  readonly #options: StatusWriterOptions<T, Outcome>

  constructor(options: StatusWriterOptions<T, Outcome>) {
    this.#options = options
  }

  /**
   * Writes the outcome of `reconcile`; null leaves the status as it is. If Redis cannot be written to, or our own code
   * throws, the status reports that, and the error is rethrown for a retry. Refusals of the API server leave it as it is.
   */
  async report(object: T, reconcile: () => Promise<Outcome | null>): Promise<void> {
    let outcome
    try {
      outcome = await reconcile()
    } catch (error) {
      if (error instanceof StorageFullError) {
        const message = `Redis is full: ${this.#options.pending(object)} when there is room.`
        await this.write(object, { kind: 'unavailable', message })
      } else if (error instanceof StoreUnavailableError) await this.write(object, this.#unavailable(object))
      else await this.setAside([object], error)
      throw error
    }
    if (outcome !== null) await this.write(object, outcome)
  }

  async write(object: T, outcome: Outcome | Unavailable): Promise<void> {
    let status
    try {
      status = this.#options.statusOf(object, outcome)
    } catch (error) {
      await this.setAside([object], error)
      throw error
    }
    await this.#store(object, status)
  }

  /**
   * Reports that our own code threw over these objects; Redis and the API server are not their fault. Never throws: the
   * caller rethrows the error itself, which has the longest back-off, and the next try writes what this one could not.
   */
  async setAside(objects: readonly T[], error: unknown): Promise<void> {
    if (isOutage(error) || error instanceof ResourceApiError) return
    for (const object of objects) {
      try {
        await this.#store(object, failedStatus(object, error, this.#options.clock.wallMs()))
      } catch {
        // The log has the error of the reconcile, which is the one to mend.
      }
    }
  }

  async #store(object: T, status: Status): Promise<void> {
    const { kind, writer, metrics } = this.#options
    if (isSameStatus(object.status, status)) return
    await ignoreNotFound(writer.applyStatus(refOf(object), status))
    metrics.statusWritten(kind)
    for (const type of WITH_EVENTS) this.#recordEvent(object, status, type)
    for (const trouble of TROUBLES) this.#recordTrouble(object, status, trouble)
  }

  #unavailable(object: T): Unavailable {
    const obstacle = this.#options.engine.obstacle()
    const pending = this.#options.pending(object)
    const message =
      obstacle === null
        ? `Redis does not answer: ${pending} when it does.`
        : `The controller cannot write to Redis (${obstacle}): ${pending} when it can.`
    return { kind: 'unavailable', message }
  }

  /** An event says that a condition got a new reason, that an edit made another mistake of the kind, or that it has recovered. */
  #recordEvent(object: T, status: Status, type: string): void {
    const before = conditionOf(object.status, type)
    const now = conditionOf(status, type)
    if (now === undefined || (now.reason === before?.reason && !isOtherMistake(before, now))) return
    const isBad = !WITHOUT_EVENT.has(now.reason)
    const isRecovery = now.status === 'True' && before !== undefined && !WITHOUT_EVENT.has(before.reason)
    if (isBad || isRecovery) this.#record(object, now, isBad)
  }

  /** An event says that the trouble has begun or ended, whatever the message says meanwhile. */
  #recordTrouble(object: T, status: Status, { type, reason }: (typeof TROUBLES)[number]): void {
    const isTrouble = (condition: Condition | undefined): boolean =>
      condition?.status === 'True' && condition.reason === reason
    const now = conditionOf(status, type)
    const wasTrouble = isTrouble(conditionOf(object.status, type))
    if (now !== undefined && isTrouble(now) !== wasTrouble) this.#record(object, now, !wasTrouble)
  }

  #record(object: T, { reason, message }: Condition, isBad: boolean): void {
    this.#options.events.record({
      regarding: refOf(object),
      type: isBad ? 'Warning' : 'Normal',
      reason,
      action: this.#options.action,
      note: message,
    })
  }
}

/** Texts that change without an edit, such as those with a count, are no news. */
function isOtherMistake(before: Condition, now: Condition): boolean {
  return before.message !== now.message && before.observedGeneration !== now.observedGeneration
}

function conditionOf(status: Status | undefined, type: string): Condition | undefined {
  return status?.conditions?.find((condition) => condition.type === type)
}
