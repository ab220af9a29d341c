import { SetAside } from '../../domain/set-aside.ts'
import type { ShardMaintenance } from '../../ports/jobs.ts'
import { NO_WINDOWS, type WindowSource } from '../../ports/windows.ts'
import { shardKeys, type Engine } from '../client/engine.ts'
import { keepBudget } from '../history/history-budget.ts'
import { META_KEY, type ShardKeys } from '../layout/keys.ts'
import { createLimitLook } from '../limit-warnings/limit-look.ts'
import type { LimitLookOptions } from '../limit-warnings/team-look.ts'
import { evictCalls } from '../retention/call-records.ts'
import { settleEach } from '../retention/settle-each.ts'
import { peek, promote } from './promotion.ts'
import { freeOverdue, reap } from './reaper.ts'
import { createStatistician } from '../statistics/statistician.ts'
import { sweepRetention } from './retention-sweep.ts'
import { createRingCheck } from './ring/ring-check.ts'

/**
 * @param windows that mute alerts
 * @param limits what the look for limit warnings judges teams by; without it there is none
 */
export function createShardMaintenance(
  engine: Engine,
  shard: number,
  windows: WindowSource = NO_WINDOWS,
  limits: Omit<LimitLookOptions, 'windows'> | null = null,
): ShardMaintenance {
  const keys = shardKeys(engine, shard)
  const lookAtLimits = limits === null ? null : createLimitLook(engine, keys, { ...limits, windows })
  const checkRing = createRingCheck(engine, keys)
  const setAside = new SetAside('upkeep', engine)
  const around = { windows, setAside }
  return {
    shard,
    peek: () => peek(engine, keys),
    promote: () => promote(engine, keys, setAside),
    reap: () => reap(engine, keys, around),
    keepStatistics: createStatistician(engine, keys),
    sweep: async () => {
      let [hasGarbage, hasCalls, hasTooMuch] = [false, false, false]
      const parts = [
        () => restoreCreated(engine, keys),
        () => freeOverdue(engine, keys, around),
        async () => {
          hasGarbage = await sweepRetention(engine, keys, setAside)
        },
        async () => {
          hasCalls = await evictCalls(engine, keys, setAside)
        },
        async () => {
          hasTooMuch = await keepBudget(engine, keys)
        },
        checkRing,
        ...(lookAtLimits === null ? [] : [lookAtLimits]),
      ]
      await settleEach(parts.entries(), {
        setAside,
        nameOf: ([index]) => ({ shard, part: index }),
        run: ([, part]) => part(),
      })
      return { isMore: hasGarbage || hasCalls || hasTooMuch }
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
