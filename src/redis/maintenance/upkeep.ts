import {
  HARD_DEADLINE_GRACE_MS,
  LEASE_MARGIN_MS,
  LOST_LEASES_MAX,
  REAP_BATCH_MAX,
  TIMEOUT_SECONDS_MAX,
} from '../../domain/limits.ts'
import type { ShardMaintenance } from '../../ports/jobs.ts'
import { batchValues, REAP } from '../execute/finish/batch.ts'
import { hintWake, shardKeys, type Engine } from '../client/engine.ts'
import { settleEach } from '../retention/settle-each.ts'
import { META_KEY, type ShardKeys } from '../layout/keys.ts'
import { reportQuarantined } from '../chains/damaged-chain.ts'
import { heldEntries, type HeldEntry } from '../execute/held-entries.ts'
import { prepareLoss } from '../execute/finish/lost-job.ts'
import { peek, promote } from './promotion.ts'
import { createRingCheck } from './ring/ring-check.ts'
import { evictCalls } from '../retention/call-records.ts'
import { trimFinished } from '../retention/finished-chains.ts'
import { sweepRetention } from '../retention/retention-sweep.ts'

/** Executors and pages one call of `reap` or `sweep` deals with at most. */
const REAPED_EXECUTORS_MAX = 16
const REAP_PAGES_MAX = 100
/** The longest a hard deadline can lie ahead of its claim. */
const HARD_DEADLINE_MS_MAX = TIMEOUT_SECONDS_MAX * 1000 + HARD_DEADLINE_GRACE_MS

export function createShardMaintenance(engine: Engine, shard: number): ShardMaintenance {
  const keys = shardKeys(engine, shard)
  const checkRing = createRingCheck(engine, keys)
  return {
    shard,
    peek: () => peek(engine, keys),
    promote: () => promote(engine, keys),
    reap: () => reap(engine, keys),
    sweep: async () => {
      let [hasGarbage, hasCalls] = [false, false]
      const parts = [
        () => mendMark(engine, keys),
        () => freeOverdue(engine, keys),
        async () => {
          hasGarbage = await sweepRetention(engine, keys)
        },
        async () => {
          hasCalls = await evictCalls(engine, keys)
        },
        checkRing,
      ]
      await settleEach(parts, (part) => part())
      return { isMore: hasGarbage || hasCalls }
    },
  }
}

async function reap(engine: Engine, keys: ShardKeys): Promise<{ jobs: number; executors: number }> {
  const cutMs = engine.runner.redisNowMs(keys.shard) - LEASE_MARGIN_MS
  const expired = await engine.runner.read((redis) =>
    redis.zrangebyscore(keys.executors, '-inf', cutMs, 'LIMIT', 0, REAPED_EXECUTORS_MAX),
  )
  let jobs = 0
  await settleEach(expired, async (executor) => {
    let taken = 0
    for (let page = 0; page < REAP_PAGES_MAX; page += 1) {
      const held = await heldPage(engine, keys, executor)
      const answer = await reapPage(engine, keys, executor, 'lease', held)
      if (answer === 'live') break
      taken += answer
      if (held.length < REAP_BATCH_MAX) break
    }
    jobs += taken
    if (taken === 0) return
    engine.logger.warn('An executor was lost; its jobs are ready again', {
      shard: keys.shard,
      executor,
      jobs: taken,
    })
  })
  return { jobs, executors: expired.length }
}

async function heldPage(engine: Engine, keys: ShardKeys, executor: string): Promise<HeldEntry[]> {
  // Two more than a page, for the notes of the last claim and the last finish.
  const flat = (await engine.runner.read((redis) =>
    redis.hrandfield(keys.heldJobs(executor), REAP_BATCH_MAX + 2, 'WITHVALUES'),
  )) as string[] | null
  return (await heldEntries(engine, keys, flat ?? [])).slice(0, REAP_BATCH_MAX)
}

/** Answers how many jobs left the executor. */
async function reapPage(
  engine: Engine,
  keys: ShardKeys,
  executor: string,
  mode: 'lease' | 'deadline',
  held: readonly HeldEntry[],
): Promise<number | 'live'> {
  const jobs = await Promise.all(held.map((entry) => prepareLoss(engine, keys, entry)))
  const values = await batchValues(engine, keys, { executor, jobs })
  const marginMs = mode === 'lease' ? LEASE_MARGIN_MS : HARD_DEADLINE_MS_MAX
  const reply = (await engine.runner.run(
    REAP.with({ ...values, executor, mode, marginMs, lossesMax: LOST_LEASES_MAX }),
  )) as ['live'] | ['moved'] | ['ok', now: string, woken: number, codes: string, toTrim: string[]]
  if (reply[0] === 'live') return 'live'
  if (reply[0] === 'moved') {
    // Nothing was done; the next round finds these jobs again.
    engine.teamNumbers.forget()
    return 0
  }
  const [, , woken, codes, toTrim] = reply
  if (woken > 0) hintWake(engine, keys.shard)
  for (const queue of toTrim) await trimFinished(engine, keys, queue)
  jobs.forEach(({ id }, i) => {
    if (codes[i] === 'a') reportQuarantined(engine, keys.shard, id)
  })
  return [...codes].filter((code) => code !== 's' && code !== 'p').length
}

/** Frees jobs in flight past their hard deadline, whatever their holder says. Bounded by the jobs in flight. */
async function freeOverdue(engine: Engine, keys: ShardKeys): Promise<void> {
  const executors = await engine.runner.read((redis) => redis.zrange(keys.executors, '0', '-1'))
  await settleEach(executors, async (executor) => {
    let cursor = '0'
    do {
      const [next, flat] = await engine.runner.read((redis) =>
        redis.hscan(keys.heldJobs(executor), cursor, 'COUNT', REAP_BATCH_MAX),
      )
      cursor = next
      const overdue = await overdueOf(engine, keys, await heldEntries(engine, keys, flat))
      for (let i = 0; i < overdue.length; i += REAP_BATCH_MAX) {
        await reapPage(engine, keys, executor, 'deadline', overdue.slice(i, i + REAP_BATCH_MAX))
      }
    } while (cursor !== '0')
  })
}

async function overdueOf(engine: Engine, keys: ShardKeys, held: readonly HeldEntry[]): Promise<HeldEntry[]> {
  const nowMs = engine.runner.redisNowMs(keys.shard)
  const byQueue = Map.groupBy(held, (entry) => entry.queue)
  const overdue: HeldEntry[] = []
  for (const [queue, entries] of byQueue) {
    const deadlines = await engine.runner.read((redis) =>
      redis.zmscore(keys.queue(queue).inFlight, ...entries.map((entry) => entry.id)),
    )
    overdue.push(...entries.filter((_, i) => deadlines[i] !== null && Number(deadlines[i]) <= nowMs))
  }
  return overdue
}

/**
 * The mark was made at the start of every role. When it is gone, so is all data of the shard: a node of a Cluster came
 * back without its file. That is said once, by whoever makes it anew.
 * When the whole installation is gone nothing is written: each role is about to end, and its next start makes them all.
 * A read as long as it is there: a full Redis refuses the write even when it would change nothing.
 */
async function mendMark(engine: Engine, keys: ShardKeys): Promise<void> {
  const known = await engine.runner.read((redis) => redis.get(keys.created))
  if (known !== null) return
  const installation = await engine.runner.read((redis) => redis.hget(META_KEY, 'installation'))
  if (installation === null) return
  const made = await engine.runner.read((redis) => redis.setnx(keys.created, '1'))
  if (made === 0) return
  engine.logger.error('A shard has lost its data: its jobs and queues of before are gone', {
    shard: keys.shard,
  })
}
