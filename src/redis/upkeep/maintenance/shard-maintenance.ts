import { SetAside } from '../../../domain/set-aside.ts'
import type { ShardMaintenance } from '../../../ports/jobs.ts'
import { NO_WINDOWS, type WindowSource } from '../../../ports/windows.ts'
import { shardKeys, type Engine } from '../../base/engine/engine.ts'
import { keepBudget } from '../../jobs/history/history-budget.ts'
import { META_KEY, type ShardKeys } from '../../base/layout/keys.ts'
import type { LimitScanOptions } from '../../watch/limit-warnings/team-scan.ts'
import { evictCalls } from '../../ledger/retention/call-records.ts'
import { settleEach } from '../../ledger/retention/settle-each.ts'
import { peek, promote } from './promotion.ts'
import { freeOverdue, reap } from './reaper.ts'
import { createMinuteRound } from '../../watch/minute-round.ts'
import { sweepRetention } from './retention-sweep.ts'
import { sweepIssues } from './issue-sweep.ts'
import { createRingCheck } from './ring-check.ts'

/**
 * @param windows that mute alerts
 * @param limits what the scan for limit warnings judges teams by; without it there is none
 */
export function createShardMaintenance(
  engine: Engine,
  shard: number,
  windows: WindowSource = NO_WINDOWS,
  limits: Omit<LimitScanOptions, 'windows'> | null = null,
): ShardMaintenance {
  const keys = shardKeys(engine, shard)
  const checkRing = createRingCheck(engine, keys)
  const setAside = new SetAside('upkeep', engine)
  const around = { windows, setAside }
  return {
    shard,
    peek: () => peek(engine, keys),
    promote: () => promote(engine, keys, setAside),
    reap: () => reap(engine, keys, around),
    runMinuteRound: createMinuteRound(engine, keys, windows, limits),
    sweep: async () => {
      let [hasGarbage, hasIssues, hasCalls, hasTooMuch] = [false, false, false, false]
      const parts = [
        () => restoreCreated(engine, keys),
        () => freeOverdue(engine, keys, around),
        async () => {
          hasGarbage = await sweepRetention(engine, keys, setAside)
        },
        async () => {
          hasIssues = await sweepIssues(engine, keys, setAside)
        },
        async () => {
          hasCalls = await evictCalls(engine, keys, setAside)
        },
        async () => {
          hasTooMuch = await keepBudget(engine, keys)
        },
        checkRing,
      ]
      await settleEach(parts.entries(), {
        setAside,
        nameOf: ([index]) => ({ shard, part: index }),
        run: ([, part]) => part(),
      })
      return { isMore: hasGarbage || hasIssues || hasCalls || hasTooMuch }
    },
  }
}

/**
 * Every role creates this key at its start, so without it all data of the shard is gone: a node of a Cluster came back
 * without its file. Whoever creates it again logs that, once. When the whole installation is gone, nothing is written: the
 * roles are about to end, and create the keys at their next start. The read comes first because a full Redis refuses even
 * a write that changes nothing.
 */
async function restoreCreated(engine: Engine, keys: ShardKeys): Promise<void> {
  const known = await engine.runner.read((redis) => redis.get(keys.created))
  if (known !== null) return
  const installation = await engine.runner.read((redis) => redis.hget(META_KEY, 'installation'))
  if (installation === null) return
  const created = await engine.runner.read((redis) => redis.setnx(keys.created, '1'))
  if (created === 0) return
  engine.logger.error('A shard has lost its data: its jobs and queues of before are gone', {
    shard: keys.shard,
  })
}
