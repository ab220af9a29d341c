import type { CheckResult, HealthFinding } from '../../../ports/health.ts'
import type { Engine } from '../../base/engine/engine.ts'
import { readShardClock } from '../../base/engine/shard-clock.ts'
import { LOSS_NOTED_MS } from '../../jobs/losses/tell-loss.ts'
import { counted } from './counted.ts'

/** Says what Redis has lost of what was accepted, as APIs have told it. */
export async function checkLosses(engine: Engine): Promise<CheckResult> {
  const findings: HealthFinding[] = []
  let all = 0
  for (const keys of engine.shards) {
    const { nowMs, lostJobs, lossToldMs } = await readShardClock(engine, keys)
    all += lostJobs
    if (lossToldMs === null || nowMs - lossToldMs >= LOSS_NOTED_MS) continue
    findings.push({
      severity: 'failed',
      subject: `shard ${keys.shard}`,
      message: `Redis came back with less than it had answered, last told at ${new Date(lossToldMs).toISOString()}; ${counted(lostJobs, 'accepted job')} of this shard are known to be lost so far.`,
      advice:
        'The alerts of the teams (reason jobs_lost) say of which queues. See "PunctualJobsLost" in docs/runbooks.md.',
    })
  }
  return { summary: all === 0 ? 'none known' : `${counted(all, 'accepted job')} lost so far`, findings }
}
