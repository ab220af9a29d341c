import { DUE_HORIZON_MS } from '../../domain/limits.ts'
import { reasonOf, ResourceApiError } from '../../domain/errors.ts'
import type { Backlog, BacklogReader } from '../../ports/queues.ts'
import type { ExecutorFleet, FleetState, Leadership } from '../../ports/kubernetes.ts'
import type { WakeHints } from '../../ports/jobs.ts'
import { pause } from '../../domain/pause.ts'
import { planScaling, type ScalingPlan, type ScalingSettings } from './scaling-plan.ts'
import type { ScalingHistory } from './scaling-history.ts'
import { createDeletionCosts, type DeletionCosts } from './deletion-costs.ts'
import { createScalingReport, type ScalingReportOptions } from './scaling-report.ts'

/**
 * Looks at what executors have to do and sets their number. Owns: the history of what was asked for, a copy of the
 * fleet, the one write under way, and the marks beside it.
 *
 *     at rest ⇄ looking (once a second; at once when a hint comes and there is no executor)
 *
 * `run` ends with its signal, after the look under way; it begins anew with every time of leading and remembers nothing.
 */
export interface Scaling {
  run(signal: AbortSignal): Promise<void>
}

export interface ScalingOptions extends ScalingReportOptions {
  readonly backlog: BacklogReader
  /** Calls that a team may have in flight; null = no bound. */
  readonly callQuotaOf: (team: string) => number | null
  readonly fleet: ExecutorFleet
  readonly hints: WakeHints
  readonly leadership: Pick<Leadership, 'isLeader'>
  readonly settings: ScalingSettings
}

const LOOK_MS = 1_000
/** Hints come with every push; between two looks there is at least this much. */
const LOOK_PACE_MS = 200
/** How old the copy of the fleet may be to decide that nothing is to be done. Before a write it is read anew. */
const FLEET_COPY_MS = 5_000
const RETRY_MS_MAX = 5_000
/** The API server may ask for a longer pause than ours, up to this. */
const RETRY_AFTER_MS_MAX = 60_000

export function createScaling(options: ScalingOptions): Scaling {
  return { run: (signal) => new ScalingTerm(options, signal).run() }
}

/** One time of leading. */
class ScalingTerm {
  readonly #options: ScalingOptions
  readonly #signal: AbortSignal
  readonly #report: ReturnType<typeof createScalingReport>
  readonly #marks: DeletionCosts
  #history: ScalingHistory | null = null
  #copy: { readonly fleet: FleetState | null; readonly atMs: number } | null = null
  #failures = 0
  #isWoken = false
  #endRest: () => void = () => undefined

  constructor(options: ScalingOptions, signal: AbortSignal) {
    this.#options = options
    this.#signal = signal
    this.#report = createScalingReport(options)
    this.#marks = createDeletionCosts(options)
  }

  async run(): Promise<void> {
    const stopHints = this.#options.hints.onWake(() => this.#wake())
    try {
      while (!this.#signal.aborted) {
        const restMs = await this.#lookSafely()
        await pause(this.#options.clock, LOOK_PACE_MS, this.#signal)
        await this.#rest(restMs - LOOK_PACE_MS)
      }
    } finally {
      stopHints()
      await this.#marks.atRest()
      this.#report.end()
    }
  }

  /** Answers how long to rest. */
  async #lookSafely(): Promise<number> {
    this.#isWoken = false
    try {
      if (await this.#look()) {
        this.#failures = 0
        return LOOK_MS
      }
      return this.#backoffMs(null)
    } catch (error) {
      const retryAfterMs = error instanceof ResourceApiError ? error.retryAfterMs : null
      const message = `The Deployment of executors cannot be read or scaled: ${reasonOf(error)}`
      this.#report.conditions(this.#copy?.fleet ?? null, [
        { type: 'ScalingActive', status: 'False', reason: 'FleetUnavailable', message },
      ])
      return this.#backoffMs(retryAfterMs)
    }
  }

  #backoffMs(retryAfterMs: number | null): number {
    this.#failures += 1
    const ownMs = Math.min(LOOK_MS * 2 ** (this.#failures - 1), RETRY_MS_MAX)
    return Math.max(ownMs, Math.min(retryAfterMs ?? 0, RETRY_AFTER_MS_MAX))
  }

  /** Answers whether everything could be read. Throws ResourceApiError. */
  async #look(): Promise<boolean> {
    const isOurs = this.#options.settings.mode === 'builtin'
    const backlog = isOurs ? await this.#readBacklog() : null
    const before = this.#history
    const known = this.#copy
    let copy = known ?? (await this.#readFleet())
    let plan = this.#plan(backlog, copy.fleet, before)
    // Kept also when the fleet cannot be read: the window goes on.
    this.#history = plan.history
    const isOld = this.#options.clock.monotonicMs() - copy.atMs >= FLEET_COPY_MS
    if (known !== null && (isOld || plan.change !== null)) {
      copy = await this.#readFleet()
      plan = this.#plan(backlog, copy.fleet, before)
      this.#history = plan.history
    }
    if (plan.change !== null && copy.fleet !== null) await this.#apply(plan.change, copy.fleet, backlog)
    // Only now: trouble with the write has not ended before it was done.
    this.#report.conditions(this.#copy?.fleet ?? null, plan.conditions)
    return !isOurs || backlog !== null
  }

  async #readBacklog(): Promise<Backlog | null> {
    try {
      const { backlog, callQuotaOf } = this.#options
      return await backlog.read(DUE_HORIZON_MS, callQuotaOf)
    } catch (error) {
      this.#options.logger.debug('What there is to do cannot be read', { reason: reasonOf(error) })
      return null
    }
  }

  async #readFleet(): Promise<{ fleet: FleetState | null; atMs: number }> {
    const fleet = await this.#options.fleet.read()
    return (this.#copy = { fleet, atMs: this.#options.clock.monotonicMs() })
  }

  #plan(backlog: Backlog | null, fleet: FleetState | null, history: ScalingHistory | null): ScalingPlan {
    const { settings, clock } = this.#options
    return planScaling({ backlog, fleet, history, settings, nowMs: clock.monotonicMs() })
  }

  async #apply(
    change: NonNullable<ScalingPlan['change']>,
    fleet: FleetState,
    backlog: Backlog | null,
  ): Promise<void> {
    if (!this.#mayWrite()) return
    const isChoice = change.replicas > 0 && change.replicas < fleet.desired
    if (isChoice && backlog !== null && !this.#marks.areFresh())
      return this.#marks.begin(backlog.held, this.#signal)
    await this.#options.fleet.scaleTo(change.replicas)
    this.#copy = { fleet: { ...fleet, desired: change.replicas }, atMs: this.#options.clock.monotonicMs() }
    this.#report.scaled(fleet, change)
  }

  #mayWrite(): boolean {
    return !this.#signal.aborted && this.#options.leadership.isLeader()
  }

  /** Where there are executors, the next look is soon enough. */
  #wake(): void {
    if (this.#copy?.fleet?.desired !== 0 || this.#failures > 0) return
    this.#isWoken = true
    this.#endRest()
  }

  async #rest(ms: number): Promise<void> {
    if (this.#isWoken || this.#signal.aborted) return
    const ended = new AbortController()
    const end = () => ended.abort()
    this.#endRest = end
    this.#signal.addEventListener('abort', end, { once: true })
    await pause(this.#options.clock, ms, ended.signal)
    this.#signal.removeEventListener('abort', end)
    this.#endRest = () => undefined
  }
}
