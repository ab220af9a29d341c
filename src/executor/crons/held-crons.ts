import { HOLD_RECHECK_MS } from '../../domain/limits.ts'
import { heldResources } from '../../domain/windows/held-resources.ts'
import type { DecidedCron, DueCron } from '../../ports/crons.ts'
import type { WindowSource } from '../../ports/windows.ts'

export type NamedCron = Pick<DueCron, 'team' | 'name'>

/** End of the maintenance windows that hold the cron; null = it is not held. @param atMs Redis time */
export function heldUntilMs(windows: WindowSource, { team, name }: NamedCron, atMs: number): number | null {
  const holds = windows.holds(atMs)
  return holds.length === 0 ? null : heldResources(holds).untilOf(team, { kind: 'cron', name })
}

/**
 * Leaves the ticks of a held cron as they are, so that its own rules decide about them when the hold has ended, as after
 * an outage. Its next look comes sooner than that, because the window may be edited or deleted.
 */
export function deferCron(cron: DueCron, untilMs: number, nowMs: number): DecidedCron {
  const deferredToMs = Math.min(untilMs + cron.spreadMs, nowMs + HOLD_RECHECK_MS)
  return { cron, run: [], missed: null, nextMs: cron.expectedMs, deferredToMs }
}
