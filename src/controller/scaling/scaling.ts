import { reasonOf, ResourceApiError } from '../../domain/errors.ts'
import { DUE_HORIZON_MS } from '../../domain/limits.ts'
import { pause } from '../../domain/pause.ts'
import type { WakeHints } from '../../ports/jobs.ts'
import type { ExecutorFleet, FleetState, Leadership } from '../../ports/kubernetes.ts'
import type { Backlog, BacklogReader } from '../../ports/queues.ts'
import { createDeletionCosts } from './deletion-costs.ts'
import type { ScalingHistory } from './scaling-history.ts'
import { planScaling, type ScalingPlan, type ScalingSettings } from './scaling-plan.ts'
import { createScalingReport, type ScalingReportOptions } from './scaling-report.ts'

export interface ScalingOptions extends ScalingReportOptions {
  readonly backlog: BacklogReader
  /** Answers how many calls a team may have in flight; null = any number. */
  readonly callQuotaOf: (team: string) => number | null
  readonly fleet: ExecutorFleet
  readonly hints: WakeHints
  readonly leadership: Pick<Leadership, 'isLeader'>
  readonly settings: ScalingSettings
}

const CHECK_EVERY_MS = 1_000
/** Hints come with every push, so two checks are at least this far apart. */
const CHECK_PACE_MS = 200
/**
 * A copy of the fleet may be this old to decide that there is nothing to do. Before a write the fleet is read again.
 */
const FLEET_COPY_MS = 5_000
const RETRY_MS_MAX = 5_000
/** The API server may ask for a longer pause than ours, up to this. */
const RETRY_AFTER_MS_MAX = 60_000

/**
 * Scales the executors to the backlog, for one leader epoch. Owns the history of needs, a copy of the fleet, the one
 * write under way, and the deletion costs.
 *
 *     at rest ⇄ checking (once a second; at once when a hint comes and there is no executor)
 *
 * `run` resolves after its signal, when the check under way has ended.
 */
export class Scaling {
  readonly #options: ScalingOptions
  readonly #signal: AbortSignal
  readonly #report: ReturnType<typeof createScalingReport>
  readonly #deletionCosts: ReturnType<typeof createDeletionCosts>
  #history: ScalingHistory | null = null
  #copy: { readonly fleet: FleetState | null; readonly atMs: number } | null = null
  #failures = 0
  #isWoken = false
  #endRest: () => void = () => undefined

  constructor(options: ScalingOptions, signal: AbortSignal) {
    this.#options = options
    this.#signal = signal
    this.#report = createScalingReport(options)
    this.#deletionCosts = createDeletionCosts(options)
  }

  async run(): Promise<void> {
    const { hints, clock } = this.#options
    const stopHints = hints.onWake(() => this.#wake())
    try {
      while (!this.#signal.aborted) {
        const restMs = await this.#checkSafely()
        await pause(clock, CHECK_PACE_MS, this.#signal)
        await this.#rest(restMs - CHECK_PACE_MS)
      }
    } finally {
      stopHints()
      await this.#deletionCosts.atRest()
      this.#report.end()
    }
  }

  /** @returns how long to rest */
  async #checkSafely(): Promise<number> {
    this.#isWoken = false
    try {
      if (!(await this.#check())) return this.#backoffMs(null)
      this.#failures = 0
      return CHECK_EVERY_MS
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
    const ownMs = Math.min(CHECK_EVERY_MS * 2 ** (this.#failures - 1), RETRY_MS_MAX)
    return Math.max(ownMs, Math.min(retryAfterMs ?? 0, RETRY_AFTER_MS_MAX))
  }

  /** @returns whether everything could be read. Throws ResourceApiError */
  async #check(): Promise<boolean> {
    const isOurs = this.#options.settings.mode === 'builtin'
    const backlog = isOurs ? await this.#readBacklog() : null
    const before = this.#history
    const known = this.#copy
    let copy = known ?? (await this.#readFleet())
    let plan = this.#plan(backlog, copy.fleet, before)
    // The history is kept even if the fleet cannot be read, so that the need counts for the window.
    this.#history = plan.history
    const isOld = this.#options.clock.monotonicMs() - copy.atMs >= FLEET_COPY_MS
    if (known !== null && (isOld || plan.change !== null)) {
      copy = await this.#readFleet()
      plan = this.#plan(backlog, copy.fleet, before)
      this.#history = plan.history
    }
    if (plan.change !== null && copy.fleet !== null) await this.#apply(plan.change, copy.fleet, backlog)
    // This is reported last, as trouble with the write has not ended until a write has succeeded.
    this.#report.conditions(this.#copy?.fleet ?? null, plan.conditions)
    return !isOurs || backlog !== null
  }

  async #readBacklog(): Promise<Backlog | null> {
    const { backlog, callQuotaOf, logger } = this.#options
    try {
      return await backlog.read(DUE_HORIZON_MS, callQuotaOf)
    } catch (error) {
      logger.debug('The backlog could not be read', { reason: reasonOf(error) })
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
    const { leadership, clock, fleet: writer } = this.#options
    if (this.#signal.aborted || !leadership.isLeader()) return
    const choosesPods = change.replicas > 0 && change.replicas < fleet.desired
    if (choosesPods && backlog !== null && !this.#deletionCosts.areFresh()) {
      return this.#deletionCosts.begin(backlog.held, this.#signal)
    }
    await writer.scaleTo(change.replicas)
    this.#copy = { fleet: { ...fleet, desired: change.replicas }, atMs: clock.monotonicMs() }
    this.#report.scaled(fleet, change)
  }

  /** While there are executors, the next check is soon enough. */
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
