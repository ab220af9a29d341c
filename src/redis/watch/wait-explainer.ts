import { StoreUnavailableError } from '../../domain/errors.ts'
import { explainWait, type Occupancy, type WaitFacts } from '../../domain/jobs/waiting.ts'
import { endedJobs } from '../../domain/statistics/tally.ts'
import { MINUTE_MS } from '../../domain/statistics/point.ts'
import { WindowOpenings } from '../../domain/windows/window-openings.ts'
import type { MaintenanceWindow } from '../../domain/windows/maintenance-window.ts'
import type { WaitExplainer } from '../../ports/jobs.ts'
import type { KnownWindows } from '../../ports/windows.ts'
import { knownQueue, type KnownQueue } from '../base/names/known-queue.ts'
import { shardKeys, type Engine } from '../base/engine/engine.ts'
import { step } from '../base/engine/step.ts'
import { definitionIn } from '../base/layout/cron-record.ts'
import { QUEUE } from '../base/layout/fields.ts'
import { THROTTLED, throttleOf } from '../base/layout/queue-record.ts'
import { indexPlace, isSuspectWaiting } from '../base/layout/keys.ts'
import { ownerOfQueue } from '../base/layout/statistics/statistics-log.ts'
import { readShardUsage } from '../ledger/quotas/usage-reader.ts'
import { readMinutes } from './statistics/statistics-reader.ts'

export const EXPLAIN = step('explain', import.meta.url, {
  keys: ['executors', 'suspects', 'clock'],
  queueKeys: ['meta', 'ready', 'records', 'inFlight'],
  args: ['localId', 'jobId', 'countedMax'],
})

/** This many ready jobs are counted one by one; further back the place is estimated. */
const COUNTED_JOBS_MAX = 10_000
/** The rate of this many minutes before this one stands for what comes. */
const RATE_MINUTES = 5

export interface WaitExplainerOptions {
  readonly windows: KnownWindows
  /** null = any number. */
  callQuotaOf(team: string): number | null
}

export function createWaitExplainer(engine: Engine, options: WaitExplainerOptions): WaitExplainer {
  return {
    explain: async (team, jobId) => {
      try {
        return await explain(engine, options, { team, jobId })
      } catch (error) {
        // What it asks beside the job's own shard may be away, and the job is shown all the same.
        if (error instanceof StoreUnavailableError) return null
        throw error
      }
    },
  }
}

async function explain(
  engine: Engine,
  options: WaitExplainerOptions,
  { team, jobId }: { readonly team: string; readonly jobId: number },
): ReturnType<WaitExplainer['explain']> {
  const queue = await queueOfJob(engine, jobId)
  if (queue === null || queue.team !== team) return null
  const seen = await look(engine, queue, jobId)
  if (seen === null) return null
  const limit = options.callQuotaOf(team)
  const [hold, taken, endsPerSecond] = await Promise.all([
    holdOf(engine, queue, { windows: options.windows, nowMs: seen.nowMs }),
    // This asks all shards, so it is asked only for a team with a quota.
    limit === null ? 0 : slotsOfTeam(engine, team),
    rateOf(engine, queue),
  ])
  return explainWait({ ...seen, hold, team: { taken, limit }, endsPerSecond })
}

async function queueOfJob(engine: Engine, jobId: number): Promise<KnownQueue | null> {
  const keys = shardKeys(engine, engine.jobIds.shardOf(jobId))
  const { block, field } = indexPlace(engine.jobIds.seqOf(jobId))
  const localId = await engine.runner.read((redis) => redis.hget(keys.jobIndex(block), field))
  return localId === null ? null : knownQueue(engine, keys, localId)
}

type Seen = Omit<WaitFacts, 'hold' | 'team' | 'endsPerSecond'>

/** null = the job does not wait. */
async function look(engine: Engine, { keys, localId }: KnownQueue, jobId: number): Promise<Seen | null> {
  const reply = (await engine.runner.run(
    EXPLAIN.with({ keys, localId, jobId, countedMax: COUNTED_JOBS_MAX }),
  )) as [
    now: string,
    due: string,
    score: string,
    active: string,
    limit: string,
    taken: number,
    executors: number,
    before: number | '',
    isExact: number,
    flowState: string,
    nextBegin: string,
    interval: string,
  ]
  const [now, due, score, active, limit, taken, executors, before, isExact, flowState, nextBegin, interval] =
    reply
  if (due === '' || (score !== '' && !isSuspectWaiting(score))) return null
  // A damaged limit counts as 1, as it does everywhere.
  const queue: Occupancy = { taken, limit: limit === '' ? null : Number(limit) || 1 }
  return {
    nowMs: Number(now),
    dueMs: Number(due),
    isActive: active === '1' || active === THROTTLED,
    throttle: throttleOf(active, flowState, Number(now)),
    rate:
      nextBegin === ''
        ? null
        : { nextMs: Math.max(Number(now), Number(nextBegin)), intervalMs: Number(interval) },
    executors,
    queue,
    before: before === '' ? null : { jobs: before, isExact: isExact === 1 },
  }
}

async function slotsOfTeam(engine: Engine, team: string): Promise<number> {
  const usages = await Promise.all(engine.shards.map((keys) => readShardUsage(engine, keys, [team], 0)))
  const taken = usages.reduce((sum, { teams }) => sum + (teams.get(team)?.inFlight ?? 0), 0)
  return Math.max(0, taken)
}

/** Reads the rate of the minutes that are over since jobs of the queue began to end; null = none has ended. */
async function rateOf(engine: Engine, { keys, localId, name }: KnownQueue): Promise<number | null> {
  // The hidden queue of a cron has no statistics of its own.
  if (name === '') return null
  const nowMs = engine.runner.redisNowMs(keys.shard)
  const now = Math.floor(nowMs / MINUTE_MS)
  const sinceMs = (now - RATE_MINUTES) * MINUTE_MS
  const minutes = await readMinutes(engine, keys, { owner: ownerOfQueue(localId), sinceMs })
  const ended = [...minutes].filter(([minute, tally]) => minute < now && endedJobs(tally) > 0)
  if (ended.length === 0) return null
  const first = Math.min(...ended.map(([minute]) => minute))
  return ended.reduce((sum, [, tally]) => sum + endedJobs(tally), 0) / ((now - first) * 60)
}

async function holdOf(
  engine: Engine,
  queue: KnownQueue,
  { windows, nowMs }: { readonly windows: KnownWindows; readonly nowMs: number },
): Promise<WaitFacts['hold']> {
  const holding = windows.ofTeam(queue.team).filter(({ action }) => action === 'hold')
  if (holding.length === 0) return null
  const cron = queue.name === '' ? await cronOf(engine, queue) : null
  const open = holding
    .filter((window) => isAbout(window, queue.name, cron))
    .map(({ name, times }) => ({ window: name, state: new WindowOpenings(times).at(nowMs) }))
    .filter(({ state }) => state.isOpen)
  // The window that closes last is the one to wait for.
  const [last] = open.toSorted((a, b) => (b.state.endMs ?? Infinity) - (a.state.endMs ?? Infinity))
  return last === undefined ? null : { window: last.window, untilMs: last.state.endMs }
}

function isAbout({ resource }: MaintenanceWindow, queue: string, cron: string | null): boolean {
  if (resource === null) return true
  return resource.kind === 'queue' ? queue !== '' && resource.name === queue : resource.name === cron
}

/** Finds by name the cron whose hidden queue it is; null = the cron is gone. */
async function cronOf(engine: Engine, { keys, localId }: KnownQueue): Promise<string | null> {
  const id = await engine.runner.read((redis) => redis.hget(keys.queueKey('meta', localId), QUEUE.cronId))
  const text = id === null ? null : await engine.runner.read((redis) => redis.hget(keys.cronDefinitions, id))
  return text === null ? null : (definitionIn(text, true)?.name ?? null)
}
