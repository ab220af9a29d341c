import type { EngineFacts } from '../../ports/settings.ts'

export interface EngineLoss {
  /** `EngineLost`: another or an empty Redis. `EngineRestored`: an older copy of the one we knew. */
  readonly reason: 'EngineLost' | 'EngineRestored'
  /** Unix ms at which it was found out. */
  readonly atMs: number
  /** A sentence for people. */
  readonly message: string
}

/** How long the queues say that jobs were lost. */
export const LOSS_SHOWN_MS = 3_600_000

/** What the engine has lost since it was as `before`; null = nothing. A higher epoch is another leader's, no loss. */
export function lossBetween(before: EngineFacts, now: EngineFacts): EngineLoss['reason'] | null {
  if (before.installation !== now.installation) return 'EngineLost'
  return now.epoch < before.epoch ? 'EngineRestored' : null
}

export function isFresh(loss: EngineLoss, wallMs: number): boolean {
  return wallMs - loss.atMs < LOSS_SHOWN_MS
}
