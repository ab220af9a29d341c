import { isDeepStrictEqual } from 'node:util'
import { reasonOf, StartupError, StoreUnavailableError } from '../../domain/errors.ts'
import { pause } from '../../domain/pause.ts'
import type { EngineRecord, EventRecorder, ResourceEvent } from '../../ports/kubernetes.ts'
import type { ObjectRef } from '../../ports/resource-store.ts'
import type { ControllerMetrics } from '../../ports/metrics.ts'
import type { Clock, Logger } from '../../ports/runtime.ts'
import type { CompileEnd, EngineFacts, LeaderEpochs, SettingsCompiler } from '../../ports/settings.ts'
import { LOSS_SHOWN_MS, lossBetween, lossOf, type EngineLoss } from './engine-loss.ts'

export interface LeaderSessionOptions {
  readonly epochs: LeaderEpochs
  readonly record: EngineRecord
  readonly events: EventRecorder
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Pick<ControllerMetrics, 'engineLost' | 'engineHeld'>
}

/** The engine is checked this often, for it may be another one by then. */
export const CHECK_EVERY_MS = 5_000
/** A new epoch begins this often, so that an older copy of Redis can be told by its lower epoch. */
const EPOCH_RENEWED_MS = 300_000

interface OpenEpoch {
  readonly facts: EngineFacts
  readonly compiler: SettingsCompiler
  /** The object that Events about the engine refer to. */
  readonly regarding: ObjectRef
  /** When the epoch began, by the monotonic clock. */
  readonly sinceMs: number
}

/**
 * Connects a leader to the engine. Owns the leader epoch under which settings are written.
 *
 *     closed → open → open again when the engine is another or an older one → closed
 *
 * `run` resolves when no check is under way; it may be called again when this process leads again.
 */
export class LeaderSession {
  readonly #options: LeaderSessionOptions
  #open: OpenEpoch | null = null
  #loss: EngineLoss | null = null
  /** Resolved when the first check of `run` has ended, successfully or not; null = not running. */
  #firstCheck: PromiseWithResolvers<void> | null = null
  #isFailing = false
  #obstacle: string | null = null
  #isSuperseded = false

  constructor(options: LeaderSessionOptions) {
    this.#options = options
  }

  /**
   * Writes under the current epoch; waits for the first check. Throws StoreUnavailableError, also if no epoch is open
   * or another one has begun.
   */
  async write<T extends object>(run: (compiler: SettingsCompiler) => Promise<CompileEnd<T>>): Promise<T> {
    const compiler = await this.#compiler()
    const end = await run(compiler)
    if (!isSuperseded(end)) return end
    // When this session itself has begun the other epoch, it has another compiler by now and is not superseded.
    if (this.#open?.compiler === compiler) this.#isSuperseded = true
    throw new StoreUnavailableError('Another leader epoch has begun')
  }

  /** Reads the teams and tokens that Redis has. Throws as `write` does. */
  async applied(): ReturnType<SettingsCompiler['applied']> {
    return (await this.#compiler()).applied()
  }

  /** Records a warning about the engine as an Event. Does nothing while no epoch is open. */
  warn(event: Pick<ResourceEvent, 'reason' | 'action' | 'note'>): void {
    const regarding = this.#open?.regarding
    if (regarding !== undefined) this.#options.events.record({ ...event, regarding, type: 'Warning' })
  }

  /** Reads the uids of the namespaces that the data of teams belongs to. Throws as `write` does. */
  async namespaces(): ReturnType<SettingsCompiler['namespaces']> {
    return (await this.#compiler()).namespaces()
  }

  /** Says what was lost recently; null = nothing. */
  loss(): EngineLoss | null {
    const loss = this.#loss
    return loss !== null && this.#options.clock.wallMs() - loss.atMs < LOSS_SHOWN_MS ? loss : null
  }

  /**
   * Says why the last check opened no epoch although Redis may answer; null = one is open, or Redis does not answer.
   */
  obstacle(): string | null {
    return this.#obstacle
  }

  /** Opens an epoch and keeps checking until the signal. @param onOpen called when all settings must be applied again */
  async run(signal: AbortSignal, onOpen: () => void): Promise<void> {
    const { clock, metrics } = this.#options
    const firstCheck = (this.#firstCheck = Promise.withResolvers<void>())
    while (!signal.aborted) {
      try {
        if (await this.#check(signal)) onOpen()
        this.#noteOpen()
      } catch (error) {
        this.#noteFailure(error)
      }
      firstCheck.resolve()
      await pause(clock, CHECK_EVERY_MS, signal)
    }
    this.#open = null
    this.#obstacle = null
    metrics.engineHeld(false)
    // A reconcile that writes only now must fail and not wait, because this process leads again only after it has
    // ended.
    this.#firstCheck = null
    firstCheck.resolve()
  }

  #noteOpen(): void {
    if (this.#isFailing) this.#options.logger.info('Settings can be applied again')
    this.#isFailing = false
    this.#obstacle = null
    this.#options.metrics.engineHeld(true)
  }

  /** Logs each obstacle once. */
  #noteFailure(error: unknown): void {
    const obstacle = obstacleOf(error)
    const isKnown = this.#isFailing && obstacle === this.#obstacle
    this.#isFailing = true
    this.#obstacle = obstacle
    this.#options.metrics.engineHeld(false)
    if (isKnown) return
    this.#options.logger.warn('Settings cannot be applied; those applied earlier stay', {
      reason: reasonOf(error),
    })
  }

  async #compiler(): Promise<SettingsCompiler> {
    await this.#firstCheck?.promise
    if (this.#open === null) throw new StoreUnavailableError('This leader has not begun an epoch')
    return this.#open.compiler
  }

  /** @returns whether all settings must be applied again */
  async #check(signal: AbortSignal): Promise<boolean> {
    const { epochs, clock } = this.#options
    const facts = await epochs.facts()
    const open = this.#open
    const isSame = open !== null && !this.#isSuperseded && lossBetween(open.facts, facts) === null
    const isDue = open === null || clock.monotonicMs() - open.sinceMs >= EPOCH_RENEWED_MS
    if (signal.aborted) return false
    if (!isSame || isDue) await this.#begin(facts, signal)
    else if (!isDeepStrictEqual(open.facts, facts)) await this.#recordFacts(open, facts)
    return !isSame
  }

  /**
   * Records a loss before the epoch that would hide it, and the epoch after it. If this process dies in between, the
   * next leader finds the loss in Redis or in the record.
   */
  async #begin(found: EngineFacts, signal: AbortSignal): Promise<void> {
    const { epochs, record, clock, logger } = this.#options
    const recorded = await record.read()
    // An epoch that began now would end that of the next leader.
    if (signal.aborted) return
    const reason = recorded === null ? null : lossBetween(recorded, found)
    const loss =
      reason === null ? (recorded?.loss ?? null) : { reason, at: new Date(clock.wallMs()).toISOString() }
    if (recorded !== null && reason !== null) await record.write({ ...recorded, loss })
    const { facts, compiler } = await epochs.begin(recorded)
    const regarding = await record.write({ ...facts, loss })
    this.#isSuperseded = false
    this.#loss = loss === null ? null : lossOf(loss)
    this.#open = { facts, compiler, regarding, sinceMs: clock.monotonicMs() }
    logger.info('A leader epoch has begun', { installation: facts.installation, epoch: facts.epoch })
    if (reason !== null && this.#loss !== null) this.#reportLoss(this.#loss, regarding)
  }

  /** Keeps the record's lower bound of ids current, so that ids begin above it after a wipe. */
  async #recordFacts(open: OpenEpoch, facts: EngineFacts): Promise<void> {
    const { record } = this.#options
    const recorded = await record.read()
    await record.write({ ...facts, loss: recorded?.loss ?? null })
    this.#open = { ...open, facts }
  }

  #reportLoss({ reason, message: note }: EngineLoss, regarding: ObjectRef): void {
    const { metrics, logger, events } = this.#options
    metrics.engineLost(reason)
    logger.error(note, { reason })
    events.record({ regarding, type: 'Warning', reason, action: 'OpenEngine', note })
  }
}

/**
 * A Redis that does not answer is an outage, not an obstacle. One that refuses to start names an obstacle as the cause.
 */
function obstacleOf(error: unknown): string | null {
  if (!(error instanceof StoreUnavailableError)) return reasonOf(error)
  return error.cause instanceof StartupError ? error.cause.message : null
}

function isSuperseded<T extends object>(end: CompileEnd<T>): end is { readonly status: 'superseded' } {
  return 'status' in end && end.status === 'superseded'
}
