import { LEASE_MARGIN_MS, LEASE_MS } from '../../../domain/limits.ts'
import type { CheckResult, HealthFinding } from '../../../ports/health.ts'
import { readSortedSet } from '../../base/engine/paged-reads.ts'
import type { Engine } from '../../base/engine/engine.ts'
import type { ShardKeys } from '../../base/layout/keys.ts'
import { counted } from './counted.ts'
import { readShardClock } from '../../base/engine/shard-clock.ts'

/** A dead executor is reaped within seconds after its lease; after another whole lease, nobody is doing it. */
const REAPED_WITHIN_MS = LEASE_MARGIN_MS + LEASE_MS

/** Checks that executors are alive in each shard, and that dead ones have been reaped. */
export async function checkLeases(engine: Engine): Promise<CheckResult> {
  const findings: HealthFinding[] = []
  let alive = 0
  for (const keys of engine.shards) {
    const { nowMs } = await readShardClock(engine, keys)
    const leases = [...(await readSortedSet(engine, keys.executors))]
    const living = leases.filter(([, untilMs]) => untilMs >= nowMs)
    // An executor has a lease in each shard, under another id in each.
    alive = Math.max(alive, living.length)
    const dead = leases.filter(([, untilMs]) => untilMs + REAPED_WITHIN_MS < nowMs)
    for (const [executor, untilMs] of dead) {
      findings.push(await unreaped(engine, keys, { executor, deadForMs: nowMs - untilMs }))
    }
    const waiting = living.length > 0 ? 0 : await engine.runner.read((redis) => redis.zcard(keys.ring))
    if (waiting > 0) {
      findings.push({
        severity: 'failed',
        subject: `shard ${keys.shard}`,
        message: `${counted(waiting, 'queue')} can run jobs, and no executor is alive here.`,
        advice:
          'Start executors, or check the logs of running ones. Scaling up from zero pods takes up to a minute.',
      })
    }
  }
  return { summary: `${counted(alive, 'executor')} alive`, findings }
}

async function unreaped(
  { runner }: Engine,
  keys: ShardKeys,
  { executor, deadForMs }: { readonly executor: string; readonly deadForMs: number },
): Promise<HealthFinding> {
  const held = await runner.read((redis) => redis.hlen(keys.heldJobs(executor)))
  return {
    severity: 'failed',
    subject: `executor ${executor} in shard ${keys.shard}`,
    message: `Its lease ended ${Math.round(deadForMs / 1000)} s ago, and no executor has released its jobs (${held} entries).`,
    advice: 'Start an executor: each one releases the jobs of dead ones within seconds.',
  }
}
