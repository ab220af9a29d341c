import { ResourceApiError, StoreUnavailableError } from '../../domain/errors.ts'
import type { Clock, Logger } from '../../ports/runtime.ts'
import type { ControllerMetrics } from '../../ports/metrics.ts'
import type {
  EventRecorder,
  ObjectKey,
  ReconcileEnd,
  Reconciler,
  Informer,
  ResourceWriter,
} from '../../ports/kubernetes.ts'
import type { QueueStatsEntry } from '../../ports/queues.ts'
import type { CompileEnd, SettingsCompiler } from '../../ports/settings.ts'
import { isSameStatus } from '../../resources/conditions.ts'
import {
  holdsFinalizer,
  isDeleted,
  placeOfKey,
  QUEUE_FINALIZER,
  queueKeyOf,
} from '../../resources/queue-owner.ts'
import { engineAway } from '../reconcile/engine-away.ts'
import type { LeaderSession } from '../engine/leader-session.ts'
import { BY_QUEUE, refOf, type HttpQueue } from '../kinds.ts'
import type { QueueCheck } from './queue-check.ts'
import { endOfTaken, givesWay, planQueue, type OwnedStep, type QueueStep } from './queue-plan.ts'
import { readyEvents } from '../reconcile/ready-events.ts'
import { queueStatus, type QueueOutcome } from './queue-status.ts'
import {
  createFinalizerTimeout,
  REMOVAL_GIVEN_UP_MS,
  type FinalizerTimeout,
} from '../reconcile/finalizer-timeout.ts'
import { ignoreNotFound } from '../reconcile/ignore-not-found.ts'
import type { Vanished } from '../orphans/orphans.ts'

export interface QueueReconcilerParts {
  readonly view: Pick<Informer<HttpQueue>, 'byIndex'>
  readonly writer: Pick<ResourceWriter<HttpQueue>, 'read' | 'applyStatus' | 'setFinalizer' | 'remove'>
  readonly check: QueueCheck
  readonly engine: Pick<LeaderSession, 'write' | 'loss' | 'obstacle'>
  /** The counts as read last. */
  readonly countsOf: (key: ObjectKey) => QueueStatsEntry | null
  readonly vanished: Vanished
  readonly events: EventRecorder
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Pick<ControllerMetrics, 'queueLeftBehind' | 'statusWritten'>
}

/**
 * Its keys are those of `queueKeyOf`: all resources of one queue name have their turn together, so that none of them
 * is looked at while the name passes from one to the other.
 */
export function createQueueReconciler(parts: QueueReconcilerParts): Reconciler {
  return new QueueReconciler(parts)
}

const KEPT = 'what is in force there stays so, and the settings follow'
const TO_GO = 'the queue and its jobs are removed'
/** Behind all keys that wait for their first turn: what is in force is told after all is in force. */
const TELL_AFTER_MS = 1

/**
 * Owns, by key: since when a removal fails, which resource was let go while the view may still show it, and what is in
 * force but not told yet; all of it ends with the resource.
 */
class QueueReconciler implements Reconciler {
  readonly #parts: QueueReconcilerParts
  readonly #patience: FinalizerTimeout
  readonly #released = new Map<ObjectKey, string>()
  readonly #untold = new Map<ObjectKey, string>()

  constructor(parts: QueueReconcilerParts) {
    this.#parts = parts
    this.#patience = createFinalizerTimeout(parts.clock)
  }

  async reconcile(key: ObjectKey, signal: AbortSignal): Promise<ReconcileEnd> {
    const released = this.#released.get(key)
    const seen = this.#parts.view.byIndex(BY_QUEUE, key)
    const resources = seen.filter((resource) => resource.metadata.uid !== released)
    // Still shown though let go: its name must not be cleared twice, a push may have made the queue anew.
    if (released !== undefined && resources.length === seen.length) this.#released.delete(key)
    const { step, taken } = planQueue(resources, this.#parts.check)
    const requeueAfterMs = await this.#take(key, step, released !== undefined)
    // The owner first: what lost the name to it goes, or says so, when that one is in force and has said so.
    if (requeueAfterMs !== null || step.kind === 'vanished') return { requeueAfterMs }
    for (const loser of taken) {
      if (signal.aborted) break
      await this.#endTaken(loser, step)
    }
    return { requeueAfterMs }
  }

  async #take(key: ObjectKey, step: QueueStep, wasReleased: boolean): Promise<number | null> {
    if (step.kind === 'apply') return this.#apply(key, step)
    this.#untold.delete(key)
    if (step.kind === 'remove') {
      await this.#remove(key, step.owner)
      return null
    }
    this.#patience.forget(key)
    if (step.kind === 'refuse') {
      await this.#writeStatus(step.owner, { kind: 'refused', problem: step.problem })
    } else if (!wasReleased) await this.#clear(key)
    return null
  }

  /** Ten thousand statuses take minutes; to put as many queues in force takes seconds. */
  async #apply(key: ObjectKey, step: QueueStep & { kind: 'apply' }): Promise<number | null> {
    const { team, name } = placeOfKey(key)
    const { uid } = step.owner.metadata
    const isUntold = this.#untold.get(key) === uid
    // First, so that whatever happens next, a deletion finds its way to the engine. The view may not show it yet.
    const owner = isUntold
      ? step.owner
      : await this.#parts.writer.setFinalizer(step.owner, QUEUE_FINALIZER, true)
    const end = await this.#inEngine(owner, KEPT, (compiler) =>
      compiler.applyQueue(team, name, step.settings),
    )
    if (!isTold(owner, end.queueId) && !isUntold) {
      this.#untold.set(key, uid)
      return TELL_AFTER_MS
    }
    this.#untold.delete(key)
    await this.#writeStatus(owner, { kind: 'applied', queueId: end.queueId })
    return null
  }

  async #remove(key: ObjectKey, owner: HttpQueue): Promise<void> {
    const isRemoved = await this.#removeFromEngine(key, owner)
    await this.#release(key, owner)
    if (isRemoved) return
    this.#tellLeftBehind(owner, placeOfKey(key).name)
    // An orphan from now on.
    this.#parts.vanished.note(key)
  }

  /** @returns false when it has failed for too long */
  async #removeFromEngine(key: ObjectKey, owner: HttpQueue): Promise<boolean> {
    const { team, name } = placeOfKey(key)
    try {
      await this.#inEngine(owner, TO_GO, (compiler) => compiler.removeQueue(team, name))
      return true
    } catch (error) {
      if (!(error instanceof StoreUnavailableError) || !this.#patience.isOver(key, owner)) throw error
      return false
    }
  }

  async #release(key: ObjectKey, owner: HttpQueue): Promise<void> {
    await ignoreNotFound(() => this.#parts.writer.setFinalizer(owner, QUEUE_FINALIZER, false))
    this.#released.set(key, owner.metadata.uid)
    this.#patience.forget(key)
  }

  /** Without a resource there is nothing to tell that it was meant; so it takes the word of the search for orphans. */
  async #clear(key: ObjectKey): Promise<void> {
    if (!this.#parts.vanished.takeDoomed(key)) return this.#parts.vanished.note(key)
    const { team, name } = placeOfKey(key)
    const end = await this.#parts.engine.write((compiler) => compiler.removeQueue(team, name))
    this.#parts.logger.warn('A queue whose resource is gone was removed', {
      team,
      queue: name,
      end: end.status,
    })
  }

  #tellLeftBehind(owner: HttpQueue, queue: string): void {
    const { events, logger, metrics } = this.#parts
    const note = `Redis could not be written to for ${REMOVAL_GIVEN_UP_MS / 60_000} minutes: this resource goes, its queue and jobs are removed from Redis when it can.`
    metrics.queueLeftBehind()
    logger.error('A resource is let go without its queue', { team: owner.metadata.namespace, queue })
    events.record({
      regarding: refOf(owner),
      type: 'Warning',
      reason: 'JobsLeftBehind',
      action: 'RemoveQueue',
      note,
    })
  }

  async #endTaken(loser: HttpQueue, step: OwnedStep): Promise<void> {
    const { writer, logger } = this.#parts
    const { owner } = step
    const end = endOfTaken(loser, step)
    if (end === 'nothing') return
    if (end === 'tell') {
      const isPushed = givesWay(loser, owner)
      return this.#writeStatus(loser, { kind: 'taken', by: owner.metadata.name, isPushed })
    }
    await this.#proveOwner(step)
    // Before the deletion: with the finalizer, a deleted resource would take queue and jobs along if it were alone.
    await ignoreNotFound(() => writer.setFinalizer(loser, QUEUE_FINALIZER, false))
    if (end === 'release') return
    await writer.remove(refOf(loser))
    const { namespace: team, name } = owner.metadata
    logger.info('A pushed queue was taken over', { team, by: name, from: loser.metadata.name })
  }

  /**
   * Nothing else stands for the queue and its jobs once the finalizer of another one is gone, and the view may be
   * behind: so the API server itself must have the owner. Throws ResourceApiError.
   */
  async #proveOwner({ kind, owner }: OwnedStep): Promise<void> {
    if (kind === 'remove') return
    const { namespace, name, uid } = owner.metadata
    const found = await this.#parts.writer.read(namespace, name)
    const isThere = found !== null && found.metadata.uid === uid && !isDeleted(found)
    if (isThere && (kind === 'refuse' || holdsFinalizer(found))) return
    throw new ResourceApiError('conflict', `HttpQueue ${name} is not what was seen any more`)
  }

  /** What the engine answered; when it does not, the resource says so before the turn fails. */
  async #inEngine<T extends object>(
    owner: HttpQueue,
    then: string,
    run: (compiler: SettingsCompiler) => Promise<CompileEnd<T>>,
  ): Promise<T> {
    try {
      return await this.#parts.engine.write(run)
    } catch (error) {
      if (error instanceof StoreUnavailableError) {
        const message = engineAway(this.#parts.engine, then)
        await this.#writeStatus(owner, { kind: 'unavailable', message })
      }
      throw error
    }
  }

  async #writeStatus(queue: HttpQueue, outcome: QueueOutcome): Promise<void> {
    const { countsOf, engine, clock, writer, metrics, events } = this.#parts
    const status = queueStatus(queue, outcome, {
      queueStats: countsOf(queueKeyOf(queue)),
      loss: engine.loss(),
      wallMs: clock.wallMs(),
    })
    if (isSameStatus(queue.status, status)) return
    await ignoreNotFound(() => writer.applyStatus(refOf(queue), status))
    metrics.statusWritten('HttpQueue')
    for (const event of readyEvents(queue, status, 'ApplyQueue')) events.record(event)
  }
}

/** The status says it already, up to its counts. */
function isTold({ metadata, status }: HttpQueue, queueId: number): boolean {
  return status?.observedGeneration === metadata.generation && status?.queueId === queueId
}
