import { LEASE_MARGIN_MS, LEASE_MS } from '../../domain/limits.ts'
import type { CheckResult, HealthFinding } from '../../ports/health.ts'
import { readSortedSet } from '../audit/audit-reads.ts'
import type { Engine } from '../client/engine.ts'
import type { ShardKeys } from '../layout/keys.ts'
import { readShardClock } from './shard-clock.ts'

/** After its lease a dead executor is reaped within seconds; a whole lease more, and nobody does it. */
const REAPED_WITHIN_MS = LEASE_MARGIN_MS + LEASE_MS

/** Looks whether executors are alive in each shard, and whether those that died were reaped. */
export async function checkLeases(engine: Engine): Promise<CheckResult> {
  const findings: HealthFinding[] = []
  const alive = new Set<string>()
  for (const keys of engine.shards) {
    const { nowMs } = await readShardClock(engine, keys)
    const leases = [...(await readSortedSet(engine, keys.executors))]
    const living = leases.filter(([, untilMs]) => untilMs >= nowMs).map(([executor]) => executor)
    for (const executor of living) alive.add(executor)
    const dead = leases.filter(([, untilMs]) => untilMs + REAPED_WITHIN_MS < nowMs)
    for (const [executor, untilMs] of dead) {
      findings.push(await unreaped(engine, keys, { executor, deadForMs: nowMs - untilMs }))
    }
    const waiting = living.length > 0 ? 0 : await engine.runner.read((redis) => redis.zcard(keys.ring))
    if (waiting > 0) {
      findings.push({
        severity: 'failed',
        subject: `shard ${keys.shard}`,
        message: `${waiting} queues have jobs that may run, and no executor is alive here.`,
        advice: 'Start executors, or look at the logs of those that run. From zero pods they take a minute.',
      })
    }
  }
  return { summary: `${alive.size} executors alive`, findings }
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
    message: `Its lease ended ${Math.round(deadForMs / 1000)} s ago, and no executor has given back what it holds (${held} entries).`,
    advice: 'Start an executor: each one gives back the jobs of dead ones within seconds.',
  }
}
