import type { CheckResult, HealthFinding } from '../../../ports/health.ts'
import type { Clock } from '../../../ports/runtime.ts'
import type { Engine } from '../../base/engine/engine.ts'
import { readShardClock } from '../../base/engine/shard-clock.ts'

/** Steps bridge as much (lib/clock.lua), and a machine whose clock is kept has less. */
const OFFSET_MS_MAX = 5_000
const RECENT_JUMP_MS = 24 * 3_600_000
const HELD_ADVICE =
  'Set the clock of that machine right, in one step; if it is right now, set PUNCTUAL_CLOCK_HOLD_SECONDS=0.'
const ADVICE = 'Check the time synchronisation (NTP) of that machine.'

/** Jobs and leases follow Redis's clock; this machine's stands in logs. */
export async function checkClock(engine: Engine, clock: Clock): Promise<CheckResult> {
  const findings: HealthFinding[] = []
  const offsets: number[] = []
  for (const keys of engine.shards) {
    const askedAtMs = clock.wallMs()
    const { nowMs, heldMs, lastStepMs, lastJumpMs, jumpsBack } = await readShardClock(engine, keys)
    const offsetMs = nowMs - heldMs - (askedAtMs + clock.wallMs()) / 2
    offsets.push(Math.abs(offsetMs))
    const subject = `shard ${keys.shard}`
    if (Math.abs(offsetMs) > OFFSET_MS_MAX) {
      const side = offsetMs > 0 ? 'ahead of' : 'behind'
      const message = `Redis's clock is ${seconds(Math.abs(offsetMs))} ${side} the clock of this machine.`
      findings.push({ severity: 'warning', subject, message, advice: ADVICE })
    }
    if (lastStepMs !== null && lastStepMs - nowMs > OFFSET_MS_MAX) {
      const message = `The last step ran at a time that is ${seconds(lastStepMs - nowMs)} ahead of Redis's clock now: the clock was set back.`
      findings.push({ severity: 'failed', subject, message, advice: ADVICE })
    }
    if (heldMs > 0) {
      const message = `Time is held ${seconds(heldMs)} ahead of Redis's clock, which was set back.`
      findings.push({ severity: 'failed', subject, message, advice: HELD_ADVICE })
    }
    if (jumpsBack > 0 && lastJumpMs !== null && nowMs - lastJumpMs < RECENT_JUMP_MS) {
      const at = new Date(lastJumpMs).toISOString()
      const message = `Redis's clock has gone back by more than 5 s, ${jumpsBack} times so far; it last jumped at ${at}.`
      findings.push({ severity: 'warning', subject, message, advice: ADVICE })
    }
  }
  return { summary: `Redis and this machine are ${seconds(Math.max(...offsets))} apart`, findings }
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}
