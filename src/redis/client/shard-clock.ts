import type { Engine } from './engine.ts'
import { step } from './step.ts'
import type { ShardKeys } from '../layout/keys.ts'

export const READ_CLOCK = step('read_clock', import.meta.url, { keys: ['clock'] })

/** Redis's clock in a shard, in Unix milliseconds; null = not noted yet. */
export interface ShardClock {
  readonly nowMs: number
  readonly lastStepMs: number | null
  /** When time jumped last, back or forward. */
  readonly lastJumpMs: number | null
  /** How often it went back by more than the steps bridge. */
  readonly jumpsBack: number
}

export async function readShardClock({ runner }: Engine, keys: ShardKeys): Promise<ShardClock> {
  const reply = (await runner.run(READ_CLOCK.with({ keys }))) as [string, string, string, string, string]
  const [seconds, microseconds, lastStep, lastJump, jumpsBack] = reply
  return {
    nowMs: Number(seconds) * 1000 + Math.floor(Number(microseconds) / 1000),
    lastStepMs: lastStep === '' ? null : Number(lastStep),
    lastJumpMs: lastJump === '' ? null : Number(lastJump),
    jumpsBack: Number(jumpsBack),
  }
}
