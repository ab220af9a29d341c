import type { Engine } from './engine.ts'
import { step } from './step.ts'
import type { ShardKeys } from '../layout/keys.ts'

export const READ_CLOCK = step('read_clock', import.meta.url, { keys: ['clock'] })

/** Redis's clock in a shard, in Unix milliseconds; null = not noted yet. */
export interface ShardClock {
  /** The time that steps go by: the clock, and what it is held ahead of it. */
  readonly nowMs: number
  /** How far it is held ahead of a clock that was set back. */
  readonly heldMs: number
  readonly lastStepMs: number | null
  /** Time of the last jump, back or forward. */
  readonly lastJumpMs: number | null
  /** How often it went back by more than the steps bridge. */
  readonly jumpsBack: number
  /** The latest time of any step, also before the clock went back: until then what was planned waits. */
  readonly latestMs: number | null
  /** How many accepted jobs Redis came back without, as far as it was told, ever. */
  readonly lostJobs: number
  /** When that was last told. */
  readonly lossToldMs: number | null
}

export async function readShardClock({ runner }: Engine, keys: ShardKeys): Promise<ShardClock> {
  const reply = (await runner.run(READ_CLOCK.with({ keys }))) as string[]
  const [seconds, microseconds, lastStep = '', lastJump = '', jumpsBack, ...noted] = reply
  const [lostJobs, lossTold = '', latest, held = ''] = noted
  return {
    nowMs: Number(seconds) * 1000 + Math.floor(Number(microseconds) / 1000) + Number(held),
    heldMs: Number(held),
    lastStepMs: lastStep === '' ? null : Number(lastStep),
    lastJumpMs: lastJump === '' ? null : Number(lastJump),
    jumpsBack: Number(jumpsBack),
    latestMs: lastStep === '' ? null : Math.max(Number(lastStep), Number(latest)),
    lostJobs: Number(lostJobs),
    lossToldMs: lossTold === '' ? null : Number(lossTold),
  }
}

/** Takes Redis's time of a shard over, before anything is judged by it. */
export async function learnShardTime(engine: Engine, keys: ShardKeys): Promise<void> {
  const { nowMs } = await readShardClock(engine, keys)
  engine.runner.noteRedisTime(keys.shard, nowMs)
}
