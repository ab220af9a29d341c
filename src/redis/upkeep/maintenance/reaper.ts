import {
  HARD_DEADLINE_GRACE_MS,
  LEASE_MARGIN_MS,
  LOST_LEASES_MAX,
  REAP_BATCH_MAX,
  TIMEOUT_SECONDS_MAX,
} from '../../../domain/limits.ts'
import { isOutage } from '../../../domain/errors.ts'
import type { SetAside } from '../../../domain/set-aside.ts'
import type { WindowSource } from '../../../ports/windows.ts'
import { countRaised } from '../../ledger/alerts/raised.ts'
import { reportQuarantined } from '../../ledger/damaged-chain.ts'
import { noteConfined } from '../../base/engine/confined.ts'
import { hintWake, type Engine } from '../../base/engine/engine.ts'
import { batchValues, REAP } from '../../jobs/execute/finish/batch.ts'
import { prepareLoss, quarantinedLoss } from '../../jobs/execute/finish/lost-job.ts'
import { heldEntries, type HeldEntry } from '../../jobs/execute/held-entries.ts'
import type { ShardKeys } from '../../base/layout/keys.ts'
import { trimFinished } from '../../jobs/history/finished-chains.ts'
import { settleEach } from '../../ledger/retention/settle-each.ts'

/** Executors that one call of `reap` deals with, and pages of each. */
const REAPED_EXECUTORS_MAX = 16
const REAP_PAGES_MAX = 100
/** How far ahead of its claim a hard deadline can be. */
const HARD_DEADLINE_MS_MAX = TIMEOUT_SECONDS_MAX * 1000 + HARD_DEADLINE_GRACE_MS

interface Around {
  /** Windows that mute alerts. */
  readonly windows: WindowSource
  readonly setAside: SetAside
}

/** Releases the jobs of executors whose lease has expired. */
export async function reap(
  engine: Engine,
  keys: ShardKeys,
  { windows, setAside }: Around,
): Promise<{ jobs: number; executors: number }> {
  const cutMs = engine.runner.redisNowMs(keys.shard) - LEASE_MARGIN_MS
  const expired = await engine.runner.read((redis) =>
    redis.zrangebyscore(keys.executors, '-inf', cutMs, 'LIMIT', 0, REAPED_EXECUTORS_MAX),
  )
  let jobs = 0
  const reapOne = async (executor: string): Promise<void> => {
    let released = 0
    for (let page = 0; page < REAP_PAGES_MAX; page += 1) {
      const held = await heldPage(engine, keys, executor)
      const answer = await reapSoundly(engine, keys, { executor, mode: 'lease', held, windows, setAside })
      if (answer === 'live') break
      released += answer
      // A page of which nothing could be released would come again at once; the next pass has another try.
      if (answer === 0 || held.length < REAP_BATCH_MAX) break
    }
    jobs += released
    if (released === 0) return
    engine.logger.warn('An executor was lost; its jobs are ready again', {
      shard: keys.shard,
      executor,
      jobs: released,
    })
  }
  const nameOf = (executor: string) => ({ shard: keys.shard, executor })
  await settleEach(expired, { setAside, nameOf, run: reapOne })
  return { jobs, executors: expired.length }
}

async function heldPage(engine: Engine, keys: ShardKeys, executor: string): Promise<HeldEntry[]> {
  // Two more than a page: the last claim and the last finish are noted beside the jobs.
  const flat = (await engine.runner.read((redis) =>
    redis.hrandfield(keys.heldJobs(executor), REAP_BATCH_MAX + 2, 'WITHVALUES'),
  )) as string[] | null
  return (await heldEntries(engine, keys, flat ?? [])).slice(0, REAP_BATCH_MAX)
}

/** 0 when not even that can be written, as where a queue's keys are of another type: its neighbours are reaped. */
async function quarantine(engine: Engine, keys: ShardKeys, page: ReapedPage): Promise<number | 'live'> {
  try {
    return await reapPage(engine, keys, page, true)
  } catch (error) {
    if (isOutage(error)) throw error
    return 0
  }
}

interface ReapedPage {
  readonly executor: string
  readonly mode: 'lease' | 'deadline'
  readonly held: readonly HeldEntry[]
  readonly windows: WindowSource
}

/**
 * Reaps a page, so that a job that our own code or the step throws over keeps no other: the page is halved until the job is
 * alone, and then it is quarantined.
 */
async function reapSoundly(
  engine: Engine,
  keys: ShardKeys,
  { setAside, ...page }: ReapedPage & { readonly setAside: SetAside },
): Promise<number | 'live'> {
  const { held } = page
  try {
    return await reapPage(engine, keys, page, false)
  } catch (error) {
    if (isOutage(error) || held.length === 0) throw error
    const [{ id, queue } = { id: '', queue: '' }] = held
    if (held.length === 1) {
      setAside.note({ shard: keys.shard, queue, jobId: id }, error)
      return quarantine(engine, keys, page)
    }
    const middle = Math.ceil(held.length / 2)
    let released = 0
    for (const half of [held.slice(0, middle), held.slice(middle)]) {
      const answer = await reapSoundly(engine, keys, { ...page, held: half, setAside })
      if (answer === 'live') return 'live'
      released += answer
    }
    return released
  }
}

/** Answers how many jobs the executor lost; 'live' when it may not be judged. */
async function reapPage(
  engine: Engine,
  keys: ShardKeys,
  { executor, mode, held, windows }: ReapedPage,
  isQuarantined: boolean,
): Promise<number | 'live'> {
  const jobs = isQuarantined
    ? held.map(quarantinedLoss)
    : await Promise.all(held.map((entry) => prepareLoss(engine, keys, entry)))
  const values = await batchValues(engine, keys, { executor, jobs, windows, isReap: true })
  const marginMs = mode === 'lease' ? LEASE_MARGIN_MS : HARD_DEADLINE_MS_MAX
  const reply = (await engine.runner.run(
    REAP.with({ ...values, executor, mode, marginMs, lossesMax: LOST_LEASES_MAX }),
  )) as
    | ['live']
    | ['moved']
    | ['ok', now: string, woken: number, codes: string, grown: string[], raised: string, faults?: string[]]
  if (reply[0] === 'live') return 'live'
  if (reply[0] === 'moved') {
    // Nothing was done; the next pass finds these jobs again.
    engine.teamNumbers.forget()
    return 0
  }
  const [, , woken, codes, grown, raised, faults = []] = reply
  if (woken > 0 || raised !== '') hintWake(engine, keys.shard)
  countRaised(engine.metrics, raised)
  for (const fault of faults) noteConfined(engine, 'step', fault, { shard: keys.shard })
  for (const queue of grown) await trimFinished(engine, keys, queue)
  jobs.forEach(({ id }, i) => {
    if (codes[i] === 'a') reportQuarantined(engine, { shard: keys.shard, jobId: id }, 'damaged')
  })
  return [...codes].filter((code) => code !== 's' && code !== 'p' && code !== 'x').length
}

/** Frees jobs in flight past their hard deadline, whatever their executor says. Bounded by the jobs in flight. */
export async function freeOverdue(
  engine: Engine,
  keys: ShardKeys,
  { windows, setAside }: Around,
): Promise<void> {
  const executors = await engine.runner.read((redis) => redis.zrange(keys.executors, '0', '-1'))
  const freeOf = async (executor: string): Promise<void> => {
    let cursor = '0'
    do {
      const [next, flat] = await engine.runner.read((redis) =>
        redis.hscan(keys.heldJobs(executor), cursor, 'COUNT', REAP_BATCH_MAX),
      )
      cursor = next
      const overdue = await overdueOf(engine, keys, await heldEntries(engine, keys, flat))
      for (let i = 0; i < overdue.length; i += REAP_BATCH_MAX) {
        const held = overdue.slice(i, i + REAP_BATCH_MAX)
        await reapSoundly(engine, keys, { executor, mode: 'deadline', held, windows, setAside })
      }
    } while (cursor !== '0')
  }
  const nameOf = (executor: string) => ({ shard: keys.shard, executor })
  await settleEach(executors, { setAside, nameOf, run: freeOf })
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
