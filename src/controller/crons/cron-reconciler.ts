import { StoreUnavailableError } from '../../domain/errors.ts'
import type { Clock, Logger } from '../../ports/runtime.ts'
import type { ControllerMetrics } from '../../ports/metrics.ts'
import type { CronState } from '../../ports/crons.ts'
import type {
  EventRecorder,
  ObjectKey,
  ReconcileEnd,
  Reconciler,
  Informer,
  ResourceWriter,
} from '../../ports/kubernetes.ts'
import type { CompileEnd, SettingsCompiler } from '../../ports/settings.ts'
import { isSameStatus } from '../../resources/conditions.ts'
import { CRON_FINALIZER } from '../../resources/cron-claim.ts'
import { placeOfKey } from '../../resources/queue-owner.ts'
import type { CronCheck } from './cron-check.ts'
import type { CronQuota } from './cron-quota.ts'
import { planCron, type CronStep } from './cron-plan.ts'
import { cronStatus, type CronOutcome } from './cron-status.ts'
import { engineAway } from '../reconcile/engine-away.ts'
import type { LeaderSession } from '../engine/leader-session.ts'
import { refOf, type HttpCron } from '../kinds.ts'
import { readyEvents } from '../reconcile/ready-events.ts'
import {
  createFinalizerTimeout,
  REMOVAL_GIVEN_UP_MS,
  type FinalizerTimeout,
} from '../reconcile/finalizer-timeout.ts'
import { ignoreNotFound } from '../reconcile/ignore-not-found.ts'
import type { Vanished } from '../orphans/orphans.ts'

export interface CronReconcilerParts {
  readonly view: Pick<Informer<HttpCron>, 'get'>
  readonly writer: Pick<ResourceWriter<HttpCron>, 'read' | 'applyStatus' | 'setFinalizer'>
  readonly room: CronQuota
  readonly check: CronCheck
  readonly engine: Pick<LeaderSession, 'write' | 'obstacle'>
  /** As looked at last. */
  readonly stateOf: (key: ObjectKey) => CronState | null
  readonly vanished: Vanished
  readonly events: EventRecorder
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Pick<ControllerMetrics, 'cronLeftBehind' | 'statusWritten'>
}

/** Keys are `namespace/name`: that is what a cron is in the engine too. */
export function createCronReconciler(parts: CronReconcilerParts): Reconciler {
  return new CronReconciler(parts)
}

const KEPT = 'what is in force there stays so, and the settings follow'
const TO_GO = 'the cron is removed'

/** Owns, by key: since when a removal fails, and which resources were let go while the view may still show them. */
class CronReconciler implements Reconciler {
  readonly #parts: CronReconcilerParts
  readonly #patience: FinalizerTimeout
  readonly #released = new Map<ObjectKey, string>()

  constructor(parts: CronReconcilerParts) {
    this.#parts = parts
    this.#patience = createFinalizerTimeout(parts.clock)
  }

  async reconcile(key: ObjectKey): Promise<ReconcileEnd> {
    const released = this.#released.get(key)
    const cron = this.#parts.view.get(key)
    // Let go, and still shown: a cron of this name may be a new one by now.
    if (released !== undefined && cron?.metadata.uid === released) return { requeueAfterMs: null }
    this.#released.delete(key)
    if (cron === undefined) this.#patience.forget(key)
    const { check, room } = this.#parts
    const step = planCron(cron, check, room)
    await this.#take(key, await this.#whole(step), released !== undefined)
    return { requeueAfterMs: null }
  }

  /** What is put in force is read in full where the copy has left something out: it may be another by now. */
  async #whole(step: CronStep): Promise<CronStep> {
    const isApplied = step.kind === 'apply' || (step.kind === 'no_room' && step.cron.status?.id !== undefined)
    if (!isApplied || step.cron.leftOutBytes === undefined) return step
    const { writer, check, room } = this.#parts
    const { namespace, name, uid } = step.cron.metadata
    const cron = await writer.read(namespace, name)
    // Gone, or another one: the view is about to say so.
    if (cron === null || cron.metadata.uid !== uid) return { kind: 'let_go' }
    return planCron(cron, check, room)
  }

  async #take(key: ObjectKey, step: CronStep, wasReleased: boolean): Promise<void> {
    switch (step.kind) {
      case 'vanished':
        return wasReleased ? undefined : this.#clear(key)
      case 'let_go':
        return undefined
      case 'remove':
        return this.#remove(key, step.cron)
      case 'refuse':
        return this.#writeStatus(key, step.cron, { kind: 'refused', problem: step.problem })
      case 'no_room':
        return this.#pause(key, step)
      case 'apply':
        return this.#apply(key, step)
    }
  }

  async #apply(key: ObjectKey, step: CronStep & { kind: 'apply' }): Promise<void> {
    const { team, name } = placeOfKey(key)
    // First, so that whatever happens next, a deletion finds its way to the engine.
    const cron = await this.#parts.writer.setFinalizer(step.cron, CRON_FINALIZER, true)
    // An engine that has lost its data gives the cron the id that people know.
    const formerId = cron.status?.id ?? null
    const { cronId, nextRunAtMs } = await this.#inEngine(key, cron, KEPT, (compiler) =>
      compiler.applyCron(team, name, step.settings, formerId),
    )
    await this.#writeStatus(key, cron, { kind: 'applied', cronId, nextRunAtMs })
  }

  async #pause(key: ObjectKey, { cron, obstacle, settings }: CronStep & { kind: 'no_room' }): Promise<void> {
    const { team, name } = placeOfKey(key)
    const formerId = cron.status?.id
    if (formerId !== undefined) {
      await this.#inEngine(key, cron, KEPT, (compiler) => compiler.applyCron(team, name, settings, formerId))
    }
    await this.#writeStatus(key, cron, { kind: 'no_room', obstacle })
  }

  async #remove(key: ObjectKey, cron: HttpCron): Promise<void> {
    const isRemoved = await this.#removeFromEngine(key, cron)
    await ignoreNotFound(() => this.#parts.writer.setFinalizer(cron, CRON_FINALIZER, false))
    this.#released.set(key, cron.metadata.uid)
    this.#patience.forget(key)
    if (isRemoved) return
    this.#tellLeftBehind(cron)
    // An orphan from now on.
    this.#parts.vanished.note(key)
  }

  /** @returns false when it has failed for too long */
  async #removeFromEngine(key: ObjectKey, cron: HttpCron): Promise<boolean> {
    const { team, name } = placeOfKey(key)
    try {
      await this.#inEngine(key, cron, TO_GO, (compiler) => compiler.removeCron(team, name))
      return true
    } catch (error) {
      if (!(error instanceof StoreUnavailableError) || !this.#patience.isOver(key, cron)) throw error
      return false
    }
  }

  /** Without a resource there is nothing to tell that it was meant; so it takes the word of the sweep. */
  async #clear(key: ObjectKey): Promise<void> {
    if (!this.#parts.vanished.takeDoomed(key)) return this.#parts.vanished.note(key)
    const { team, name } = placeOfKey(key)
    const end = await this.#parts.engine.write((compiler) => compiler.removeCron(team, name))
    this.#parts.logger.warn('A cron whose resource is gone was removed', {
      team,
      cron: name,
      end: end.status,
    })
  }

  #tellLeftBehind(cron: HttpCron): void {
    const { events, logger, metrics } = this.#parts
    const { namespace: team, name } = cron.metadata
    const note = `Redis could not be written to for ${REMOVAL_GIVEN_UP_MS / 60_000} minutes: this resource goes, its cron stays in Redis and ticks on until the controller finds it there.`
    metrics.cronLeftBehind()
    logger.error('A resource is let go without its cron', { team, cron: name })
    events.record({
      regarding: refOf(cron),
      type: 'Warning',
      reason: 'CronLeftBehind',
      action: 'RemoveCron',
      note,
    })
  }

  /** What the engine answered; when it does not, the resource says so before the turn fails. */
  async #inEngine<T extends object>(
    key: ObjectKey,
    cron: HttpCron,
    then: string,
    run: (compiler: SettingsCompiler) => Promise<CompileEnd<T>>,
  ): Promise<T> {
    try {
      return await this.#parts.engine.write(run)
    } catch (error) {
      if (error instanceof StoreUnavailableError) {
        const message = engineAway(this.#parts.engine, then)
        await this.#writeStatus(key, cron, { kind: 'unavailable', message })
      }
      throw error
    }
  }

  async #writeStatus(key: ObjectKey, cron: HttpCron, outcome: CronOutcome): Promise<void> {
    const { stateOf, clock, writer, metrics, events } = this.#parts
    const status = cronStatus(cron, outcome, { state: stateOf(key), wallMs: clock.wallMs() })
    if (isSameStatus(cron.status, status)) return
    await ignoreNotFound(() => writer.applyStatus(refOf(cron), status))
    metrics.statusWritten('HttpCron')
    for (const event of readyEvents(cron, status, 'ApplyCron')) events.record(event)
  }
}
