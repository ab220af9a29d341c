import type { EngineFacts } from '../../ports/settings.ts'

export interface EngineLoss {
  /** `EngineLost`: Redis is another one, or empty. `EngineRestored`: it holds an older copy of its data. */
  readonly reason: 'EngineLost' | 'EngineRestored'
  /** Unix ms at which the loss was detected. */
  readonly atMs: number
  /** A sentence for people. */
  readonly message: string
}

/** Queues report for this long that jobs were lost. */
export const LOSS_SHOWN_MS = 3_600_000

/** Says what was lost between two reads; null = nothing. A higher epoch is another leader's, and no loss. */
export function lossBetween(before: EngineFacts, now: EngineFacts): EngineLoss['reason'] | null {
  if (before.installation !== now.installation) return 'EngineLost'
  return now.epoch < before.epoch ? 'EngineRestored' : null
}

/** Restores a loss from the record, which may hold a reason of another version. */
export function lossOf({ reason: text, at }: { readonly reason: string; readonly at: string }): EngineLoss {
  const reason = text === 'EngineRestored' ? text : 'EngineLost'
  const what =
    reason === 'EngineLost'
      ? 'Redis was found empty or replaced by another one'
      : 'Redis was found to hold an older copy of its data'
  const message = `${what} at ${at}: jobs pushed before may be lost or run again. All settings were applied again.`
  return { reason, atMs: Date.parse(at), message }
}
