import { LEASE_MS, PROMOTE_BATCH_MAX } from '../../../domain/limits.ts'
import { isOutage } from '../../../domain/errors.ts'
import type { SetAside } from '../../../domain/set-aside.ts'
import type { ShardMaintenance } from '../../../ports/jobs.ts'
import { hintWake, type Engine } from '../../base/engine/engine.ts'
import { step } from '../../base/engine/step.ts'
import type { ShardKeys } from '../../base/layout/keys.ts'
import { settleEach } from '../../ledger/retention/settle-each.ts'

export const PROMOTE = step('promote', import.meta.url, {
  keys: ['clock', 'executors', 'nearSet', 'ring', 'teams'],
  args: ['leaseMs'],
  rows: {
    queues: { queueKeys: ['meta', 'ready', 'records', 'inFlight'], args: ['localId'] },
    members: { args: ['localId', 'jobId'] },
  },
  rest: 'unreadable',
})
export const POUR = step('pour', import.meta.url, {
  keys: ['bucket', 'minutes', 'nearSet'],
  args: ['minute', 'entriesMax'],
})

/** Minutes are poured into the near set this long before they begin. */
const POUR_AHEAD_MS = 60_000
/** Pages one call of `promote` pours at most: jobs that are due wait behind it, and a minute may hold a million. */
const POURED_PAGES_MAX = 8

/** The pause after a page with a queue that could not be promoted. */
const TROUBLED_MS = 250

/** Whether a shard has something to claim, and when `promote` has something to do next. */
export async function peek(engine: Engine, keys: ShardKeys): ReturnType<ShardMaintenance['peek']> {
  const [ring, near, minutes, suspects] = await engine.runner.read((redis) =>
    Promise.all([
      redis.zcard(keys.ring),
      redis.zrange(keys.nearSet, '0', '0', 'WITHSCORES'),
      redis.zrange(keys.minutes, '0', '0'),
      redis.zcard(keys.suspects),
    ]),
  )
  const due = near[1] === undefined ? null : Number(near[1])
  return { runnable: ring > 0 || suspects > 0, nextDueMs: earliest(due, pourTimeOf(minutes)) }
}

export async function promote(
  engine: Engine,
  keys: ShardKeys,
  setAside: SetAside,
): Promise<{ promoted: number; nextDueMs: number | null }> {
  const seen = await look(engine, keys)
  const isPouring = seen.pourDueMs !== null && seen.pourDueMs <= engine.runner.redisNowMs(keys.shard)
  const pourDueMs = isPouring ? await pour(engine, keys) : seen.pourDueMs
  const { due } = isPouring ? await look(engine, keys) : seen
  const members: Array<{ localId: string; jobId: string }> = []
  const unreadable: string[] = []
  for (const member of due) {
    const [, localId, jobId] = /^(\d+)\|(\d+)$/.exec(member) ?? []
    if (localId === undefined || jobId === undefined) unreadable.push(member)
    else members.push({ localId, jobId })
  }
  if (unreadable.length > 0) logDropped(engine, keys, unreadable.length)
  const page = { members, unreadable }
  const { promoted, nextDueMs } = await promotePage(engine, keys, page).catch((error: unknown) => {
    if (isOutage(error)) throw error
    return promoteEach(engine, keys, { ...page, setAside })
  })
  return { promoted, nextDueMs: earliest(nextDueMs, pourDueMs) }
}

interface DuePage {
  readonly members: ReadonlyArray<{ readonly localId: string; readonly jobId: string }>
  readonly unreadable: readonly string[]
}

/** Queue by queue, because the step failed for all: one whose data it cannot work with must not keep the others' jobs. */
async function promoteEach(
  engine: Engine,
  keys: ShardKeys,
  { members, unreadable, setAside }: DuePage & { readonly setAside: SetAside },
): Promise<{ promoted: number; nextDueMs: number | null }> {
  const byQueue = Map.groupBy(members, ({ localId }) => localId)
  let promoted = 0
  await settleEach([...byQueue, ['', []] as const], {
    setAside,
    nameOf: ([queue]) => ({ shard: keys.shard, queue }),
    run: async ([queue, ofQueue]) => {
      const page = { members: ofQueue, unreadable: queue === '' ? unreadable : [] }
      promoted += (await promotePage(engine, keys, page)).promoted
    },
  })
  // What could not be promoted is still due, and must not be tried again at once.
  return { promoted, nextDueMs: engine.runner.redisNowMs(keys.shard) + TROUBLED_MS }
}

async function promotePage(
  engine: Engine,
  keys: ShardKeys,
  { members, unreadable }: DuePage,
): Promise<{ promoted: number; nextDueMs: number | null }> {
  const localIds = new Set(members.map(({ localId }) => localId))
  const queues = Array.from(localIds, (localId) => ({ localId }))
  const reply = await engine.runner.run(
    PROMOTE.with({ keys, leaseMs: LEASE_MS, queues, members, unreadable }),
  )
  const [now, promoted, woken, nextDue] = reply as [string, number, string[], string]
  engine.runner.noteRedisTime(keys.shard, Number(now))
  if (woken.length > 0) {
    engine.wokenQueues.note(keys.shard, woken, engine.runner.redisNowMs(keys.shard))
    hintWake(engine, keys.shard)
  }
  return { promoted, nextDueMs: nextDue === '' ? null : Number(nextDue) }
}

/** Reads when pouring is next due, and a page of what is due in the near set. */
async function look(engine: Engine, keys: ShardKeys): Promise<{ pourDueMs: number | null; due: string[] }> {
  const nowMs = engine.runner.redisNowMs(keys.shard)
  const [minutes, due] = await engine.runner.read((redis) =>
    Promise.all([
      redis.zrange(keys.minutes, '0', '0'),
      redis.zrangebyscore(keys.nearSet, '-inf', nowMs, 'LIMIT', 0, PROMOTE_BATCH_MAX),
    ]),
  )
  return { pourDueMs: pourTimeOf(minutes), due }
}

/** A minute that cannot be read is poured at once, which drops it. */
function pourTimeOf([oldest]: readonly string[]): number | null {
  if (oldest === undefined) return null
  const timeMs = Number(oldest) * 60_000 - POUR_AHEAD_MS
  return Number.isFinite(timeMs) ? timeMs : 0
}

/** Pours the oldest minutes that are near enough, a few pages; answers when pouring is next due. */
async function pour(engine: Engine, keys: ShardKeys): Promise<number | null> {
  for (let pages = 0; ; pages += 1) {
    const minutes = await engine.runner.read((redis) => redis.zrange(keys.minutes, '0', '0'))
    const [minute = ''] = minutes
    const dueMs = pourTimeOf(minutes)
    if (dueMs === null || dueMs > engine.runner.redisNowMs(keys.shard) || pages === POURED_PAGES_MAX)
      return dueMs
    const bucket = keys.minuteBucket(Number(minute))
    const [, dropped] = (await engine.runner.run(
      POUR.with({ keys, bucket, minute, entriesMax: PROMOTE_BATCH_MAX }),
    )) as [left: number, dropped: number]
    if (dropped > 0) logDropped(engine, keys, dropped)
  }
}

/** A damaged entry does not say whose job it was; the job stays as it is and can be cancelled. */
function logDropped(engine: Engine, { shard }: ShardKeys, entries: number): void {
  engine.logger.error('Entries of delayed jobs are damaged and were dropped', { shard, entries })
}

function earliest(a: number | null, b: number | null): number | null {
  if (a === null) return b
  return b === null ? a : Math.min(a, b)
}

/** Has a shard note its time, and renew leases if that has jumped: a step that promotes nothing. */
export async function noteTime(engine: Engine, keys: ShardKeys): Promise<void> {
  await engine.runner.run(PROMOTE.with({ keys, leaseMs: LEASE_MS, queues: [], members: [], unreadable: [] }))
}
