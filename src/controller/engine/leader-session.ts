import { isDeepStrictEqual } from 'node:util'
import { reasonOf, StartupError, StoreUnavailableError } from '../../domain/errors.ts'
import type { Clock, Logger } from '../../ports/runtime.ts'
import type { ControllerMetrics } from '../../ports/metrics.ts'
import type { EngineRecord, EventRecorder, ObjectRef } from '../../ports/kubernetes.ts'
import type { CompileEnd, EngineFacts, LeaderEpochs, SettingsCompiler } from '../../ports/settings.ts'
import { isFresh, lossBetween, type EngineLoss } from './engine-loss.ts'
import { pause } from '../../domain/pause.ts'

/**
 * A leader's hold on the engine: away → open, and from there anew whenever the engine turns out to be another or an
 * older one. Owns the epoch under which settings are written.
 */
export interface LeaderSession {
  /**
   * Writes under this epoch; at the begin of leading, when it is known whether there is one. Throws
   * StoreUnavailableError, also while no epoch has begun or when another has.
   */
  write<T extends object>(run: (compiler: SettingsCompiler) => Promise<CompileEnd<T>>): Promise<T>
  /** What is in force now. Throws as `write` does. */
  applied(): ReturnType<SettingsCompiler['applied']>
  /** What was lost not long ago; null = nothing. */
  loss(): EngineLoss | null
  /** Why the engine is not held though it may answer, as the last look found; null = it is, or it does not answer. */
  obstacle(): string | null
  /** Opens and goes on looking until the signal; `onOpen` is told each time that everything must be compiled anew. */
  run(signal: AbortSignal, onOpen: () => void): Promise<void>
}

export interface EngineHoldParts {
  readonly epochs: LeaderEpochs
  readonly record: EngineRecord
  readonly events: EventRecorder
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Pick<ControllerMetrics, 'engineLost' | 'engineHeld'>
}

/** How often it is asked whether the engine is still the same. */
export const ENGINE_LOOK_MS = 5_000
/** An epoch is begun anew this often, so that a copy of Redis from before it is known for an older one. */
const EPOCH_RENEWED_MS = 3_600_000

export function createLeaderSession(parts: EngineHoldParts): LeaderSession {
  return new OpenedEngine(parts)
}

interface OpenEpoch {
  readonly facts: EngineFacts
  readonly compiler: SettingsCompiler
  /** By the monotonic clock. */
  readonly sinceMs: number
}

class OpenedEngine implements LeaderSession {
  readonly #parts: EngineHoldParts
  #open: OpenEpoch | null = null
  #loss: EngineLoss | null = null
  /** Over when the first look of this time of leading has ended, well or not; null = no such time. */
  #firstLook: PromiseWithResolvers<void> | null = null
  #isFailing = false
  #obstacle: string | null = null
  #isSuperseded = false

  constructor(parts: EngineHoldParts) {
    this.#parts = parts
  }

  async write<T extends object>(run: (compiler: SettingsCompiler) => Promise<CompileEnd<T>>): Promise<T> {
    const compiler = await this.#compiler()
    const end = await run(compiler)
    if (!isSuperseded(end)) return end
    // By an epoch of our own, when another has begun here since.
    if (this.#open?.compiler === compiler) this.#isSuperseded = true
    throw new StoreUnavailableError('Another leader epoch has begun')
  }

  async applied(): ReturnType<SettingsCompiler['applied']> {
    return (await this.#compiler()).applied()
  }

  loss(): EngineLoss | null {
    return this.#loss !== null && isFresh(this.#loss, this.#parts.clock.wallMs()) ? this.#loss : null
  }

  obstacle(): string | null {
    return this.#obstacle
  }

  async run(signal: AbortSignal, onOpen: () => void): Promise<void> {
    const { clock, metrics } = this.#parts
    const firstLook = (this.#firstLook = Promise.withResolvers<void>())
    while (!signal.aborted) {
      try {
        if (await this.#look(signal)) onOpen()
        this.#held()
      } catch (error) {
        this.#notHeld(error)
      }
      firstLook.resolve()
      await pause(clock, ENGINE_LOOK_MS, signal)
    }
    this.#open = null
    this.#obstacle = null
    metrics.engineHeld(false)
    // A turn that comes to its write only now must fail, not wait: nobody leads again before it has ended.
    this.#firstLook = null
    firstLook.resolve()
  }

  #held(): void {
    if (this.#isFailing) this.#parts.logger.info('The engine is held again')
    this.#isFailing = false
    this.#obstacle = null
    this.#parts.metrics.engineHeld(true)
  }

  /** Told once, and again when there is another reason. */
  #notHeld(error: unknown): void {
    const obstacle = obstacleOf(error)
    const isKnown = this.#isFailing && obstacle === this.#obstacle
    this.#isFailing = true
    this.#obstacle = obstacle
    this.#parts.metrics.engineHeld(false)
    if (isKnown) return
    this.#parts.logger.warn('The engine could not be looked at; what is in force stays so', {
      reason: reasonOf(error),
    })
  }

  async #compiler(): Promise<SettingsCompiler> {
    await this.#firstLook?.promise
    if (this.#open === null) throw new StoreUnavailableError('This leader has not begun an epoch')
    return this.#open.compiler
  }

  /** @returns whether everything must be compiled anew */
  async #look(signal: AbortSignal): Promise<boolean> {
    const facts = await this.#parts.epochs.facts()
    const open = this.#open
    const isSame = open !== null && !this.#isSuperseded && lossBetween(open.facts, facts) === null
    const isDue = open === null || this.#parts.clock.monotonicMs() - open.sinceMs >= EPOCH_RENEWED_MS
    if (signal.aborted) return false
    if (!isSame || isDue) await this.#begin(facts, signal)
    else if (!isDeepStrictEqual(open.facts, facts)) await this.#keep(open, facts)
    return !isSame
  }

  /**
   * A loss is written down before the epoch that hides it, the epoch after it: should we die in between, the next leader
   * finds the loss again, or its record.
   */
  async #begin(found: EngineFacts, signal: AbortSignal): Promise<void> {
    const { epochs, record, clock } = this.#parts
    const recorded = await record.read()
    // An epoch begun now would end that of the next leader.
    if (signal.aborted) return
    const reason = recorded === null ? null : lossBetween(recorded, found)
    const loss =
      reason === null ? (recorded?.loss ?? null) : { reason, at: new Date(clock.wallMs()).toISOString() }
    if (recorded !== null && reason !== null) await record.write({ ...recorded, loss })
    const { facts, compiler } = await epochs.begin(recorded)
    const regarding = await record.write({ ...facts, loss })
    this.#isSuperseded = false
    this.#loss = loss === null ? null : asLoss(loss)
    this.#open = { facts, compiler, sinceMs: clock.monotonicMs() }
    this.#parts.logger.info('An epoch of the engine has begun', {
      installation: facts.installation,
      epoch: facts.epoch,
    })
    if (reason !== null && this.#loss !== null) this.#tell(this.#loss, regarding)
  }

  /** Ids that were given since: without them, those of a wiped Redis would begin too low. */
  async #keep(open: OpenEpoch, facts: EngineFacts): Promise<void> {
    const recorded = await this.#parts.record.read()
    await this.#parts.record.write({ ...facts, loss: recorded?.loss ?? null })
    this.#open = { ...open, facts }
  }

  #tell({ reason, message: note }: EngineLoss, regarding: ObjectRef): void {
    const { metrics, logger, events } = this.#parts
    metrics.engineLost(reason)
    logger.error(note, { reason })
    events.record({ regarding, type: 'Warning', reason, action: 'OpenEngine', note })
  }
}

/** A Redis that does not answer is no obstacle of its own; one that turned us away has the reason as its cause. */
function obstacleOf(error: unknown): string | null {
  if (!(error instanceof StoreUnavailableError)) return reasonOf(error)
  return error.cause instanceof StartupError ? error.cause.message : null
}

function isSuperseded<T extends object>(end: CompileEnd<T>): end is { readonly status: 'superseded' } {
  return 'status' in end && end.status === 'superseded'
}

function asLoss({ reason: text, at }: { readonly reason: string; readonly at: string }): EngineLoss {
  const reason = text === 'EngineRestored' ? 'EngineRestored' : 'EngineLost'
  const what =
    reason === 'EngineLost'
      ? 'Redis was found to be another or an empty one'
      : 'Redis was found to hold an older copy of its data'
  const message = `${what} at ${at}: jobs pushed before may be gone or run again. Settings are in force anew.`
  return { reason, atMs: Date.parse(at), message }
}
