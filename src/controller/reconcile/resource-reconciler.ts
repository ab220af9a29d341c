import { StoreUnavailableError } from '../../domain/errors.ts'
import type { ObjectKey, ReconcileEnd, Reconciler } from '../../ports/kubernetes.ts'
import type { Logger } from '../../ports/runtime.ts'
import type { CompileEnd, SettingsCompiler } from '../../ports/settings.ts'
import { parseKey } from '../../resources/queue-owner.ts'
import { refOf, type ConditionedObject } from '../kinds.ts'
import { FINALIZER_TIMEOUT_MS, FinalizerTimeout } from './finalizer-timeout.ts'
import { ignoreNotFound } from './ignore-not-found.ts'
import type { ReconcilerParts } from './reconciler-parts.ts'
import type { StatusWriter } from './status-writer.ts'

/** Says what is to be done for one key. */
export type Plan<T, Desired, Outcome> =
  /** No object is left: there was none, or it went without its finalizer and left an orphan in Redis. */
  | { readonly kind: 'absent' }
  | { readonly kind: 'nothing' }
  /** The object was deleted: Redis is cleaned up first, then the finalizer is removed. */
  | { readonly kind: 'remove'; readonly object: T }
  /** The spec is refused until it changes. Redis keeps what it has, and the status says why. */
  | { readonly kind: 'refuse'; readonly object: T; readonly outcome: Outcome }
  | { readonly kind: 'apply'; readonly object: T; readonly desired: Desired }

/** A plan about an object that exists. */
export type ObjectPlan<T, Desired, Outcome> = Extract<Plan<T, Desired, Outcome>, { readonly object: T }>

/** What a kind adds to the reconcile of `ResourceReconciler`. */
export interface FinalizedKind<T extends ConditionedObject, Desired, Outcome> {
  readonly noun: 'queue' | 'cron'
  readonly finalizer: string
  readonly status: StatusWriter<T, Outcome>
  /** Answers all objects of a key that the informer has. */
  objectsOf(key: ObjectKey): readonly T[]
  plan(objects: readonly T[]): Plan<T, Desired, Outcome> | Promise<Plan<T, Desired, Outcome>>
  apply(object: T, desired: Desired): Promise<Outcome>
  /** Tells whether to apply all other waiting keys before this outcome is written to the status. */
  defersStatus?(object: T, outcome: Outcome): boolean
  /** @param ref the two parts of the key */
  remove(
    compiler: SettingsCompiler,
    ref: ReturnType<typeof parseKey>,
  ): Promise<CompileEnd<{ readonly status: 'removed' | 'not_found' }>>
  /** Handles the other objects of the key, after the status is written. */
  settleOthers?(context: {
    readonly objects: readonly T[]
    readonly plan: ObjectPlan<T, Desired, Outcome>
    readonly signal: AbortSignal
  }): Promise<void>
  /** Makes the event for an object that was released although Redis could not be cleaned up. */
  readonly leftBehind: { readonly reason: string; readonly action: string; readonly note: string }
  countLeftBehind(): void
  /** Answers when an object that was applied is reconciled again even without a change; null = only after a change. */
  pollMs?(key: ObjectKey, object: T | null): number | null
}

/** Finds settings in Redis that may have lost their resource. */
export interface Orphans {
  /** Asks for a sweep, which confirms the orphans. */
  request(): void
  /** Tells whether the last sweep confirmed this key as an orphan that must be removed. It answers true only once. */
  takeConfirmed(key: ObjectKey): boolean
}

export interface FinalizedParts<T extends ConditionedObject> extends ReconcilerParts<T> {
  readonly orphans: Orphans
  readonly logger: Logger
}

/** Requeues at low priority: statuses take minutes to write, so they come after every key was applied once. */
const STATUS_DEFERRED_MS = 1
const DONE: ReconcileEnd = { requeueAfterMs: null }

/**
 * Reconciles a kind whose objects hold a finalizer: fetch, plan, finalizer, apply, status. Owns, by key, since when a
 * removal has been failing, which object was released while the informer may still have it, and which object waits for
 * its status.
 */
export class ResourceReconciler<T extends ConditionedObject, Desired, Outcome> implements Reconciler {
  readonly #kind: FinalizedKind<T, Desired, Outcome>
  readonly #parts: FinalizedParts<T>
  readonly #timeout: FinalizerTimeout
  readonly #released = new Map<ObjectKey, string>()
  readonly #deferred = new Map<ObjectKey, string>()

  constructor(kind: FinalizedKind<T, Desired, Outcome>, parts: FinalizedParts<T>) {
    this.#kind = kind
    this.#parts = parts
    this.#timeout = new FinalizerTimeout(parts.clock)
  }

  async reconcile(key: ObjectKey, signal: AbortSignal): Promise<ReconcileEnd> {
    const released = this.#released.get(key)
    const known = this.#kind.objectsOf(key)
    const objects = known.filter(({ metadata }) => metadata.uid !== released)
    // A released object is remembered while the informer still has it: a push may have created the queue again, and
    // nothing may remove that.
    if (objects.length === known.length) this.#released.delete(key)
    const plan = await this.#plan(objects)
    if (plan.kind !== 'remove') this.#timeout.forget(key)
    if (plan.kind !== 'apply') this.#deferred.delete(key)
    if (plan.kind === 'absent' && released === undefined) await this.#removeOrphan(key)
    if (plan.kind !== 'apply') this.#kind.pollMs?.(key, null)
    if (plan.kind === 'absent' || plan.kind === 'nothing') return DONE

    await this.#kind.status.report(plan.object, () => this.#carryOut(key, plan))
    if (this.#deferred.has(key)) return { requeueAfterMs: STATUS_DEFERRED_MS }
    await this.#kind.settleOthers?.({ objects, plan, signal })
    if (plan.kind !== 'apply') return DONE
    return { requeueAfterMs: this.#kind.pollMs?.(key, plan.object) ?? null }
  }

  /** If the plan throws, nobody knows which of the objects it is about, so all are set aside. */
  async #plan(objects: readonly T[]): Promise<Plan<T, Desired, Outcome>> {
    try {
      return await this.#kind.plan(objects)
    } catch (error) {
      await this.#kind.status.setAside(objects, error)
      throw error
    }
  }

  /** @returns what to write to the status; null = nothing, or not yet */
  async #carryOut(key: ObjectKey, plan: ObjectPlan<T, Desired, Outcome>): Promise<Outcome | null> {
    switch (plan.kind) {
      case 'refuse':
        return plan.outcome
      case 'remove':
        await this.#remove(key, plan.object)
        return null
      case 'apply':
        return this.#apply(key, plan.object, plan.desired)
    }
  }

  async #apply(key: ObjectKey, object: T, desired: Desired): Promise<Outcome | null> {
    const { uid } = object.metadata
    const wasDeferred = this.#deferred.get(key) === uid
    // The finalizer comes first, so that a deletion is cleaned up whenever this process dies. After a deferral it is
    // set, even if the informer does not show it yet.
    const held = wasDeferred
      ? object
      : await this.#parts.writer.setFinalizer(object, this.#kind.finalizer, true)
    const outcome = await this.#kind.apply(held, desired)
    if (!wasDeferred && this.#kind.defersStatus?.(held, outcome) === true) {
      this.#deferred.set(key, uid)
      return null
    }
    this.#deferred.delete(key)
    return outcome
  }

  async #remove(key: ObjectKey, object: T): Promise<void> {
    const isRemoved = await this.#removeFromEngine(key, object)
    await ignoreNotFound(this.#parts.writer.setFinalizer(object, this.#kind.finalizer, false))
    this.#released.set(key, object.metadata.uid)
    this.#timeout.forget(key)
    if (isRemoved) return
    this.#reportLeftBehind(key, object)
    this.#parts.orphans.request()
  }

  /** @returns false when the removal has failed for as long as the finalizer timeout */
  async #removeFromEngine(key: ObjectKey, object: T): Promise<boolean> {
    try {
      await this.#parts.engine.write((compiler) => this.#kind.remove(compiler, parseKey(key)))
      return true
    } catch (error) {
      if (!(error instanceof StoreUnavailableError) || !this.#timeout.hasExpired(key, object)) throw error
      return false
    }
  }

  /** Nothing but a resource could prove that the deletion was intended, so without one only a sweep may confirm it. */
  async #removeOrphan(key: ObjectKey): Promise<void> {
    const { orphans, engine, logger } = this.#parts
    if (!orphans.takeConfirmed(key)) return orphans.request()
    const ref = parseKey(key)
    const { status } = await engine.write((compiler) => this.#kind.remove(compiler, ref))
    logger.warn('An orphan was removed', { team: ref.team, [this.#kind.noun]: ref.name, end: status })
  }

  #reportLeftBehind(key: ObjectKey, object: T): void {
    const { events, logger } = this.#parts
    const { noun, leftBehind } = this.#kind
    const { team, name } = parseKey(key)
    this.#kind.countLeftBehind()
    logger.error('The finalizer of a deleted resource timed out; Redis was not cleaned up', {
      team,
      [noun]: name,
      timeoutMs: FINALIZER_TIMEOUT_MS,
    })
    events.record({ regarding: refOf(object), type: 'Warning', ...leftBehind })
  }
}
