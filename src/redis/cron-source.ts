import { randomBytes } from 'node:crypto'
import { LEASE_MS, TICK_BATCH_BYTES_MAX, TICK_BATCH_MAX, UPCOMING_BYTES_MAX } from '../domain/limits.ts'
import type { QueueSettings } from '../domain/queue-settings.ts'
import type { CronSource, DecidedCron, DueCron, PreparedTicks, TickAnswer } from '../ports/cron-source.ts'
import { decodeDefinition, decodeState, type CronStateRecord } from './cron-record.ts'
import { hasEnded } from './cron-reader.ts'
import { hintWake, shardKeys, type Engine } from './engine.ts'
import type { ShardKeys } from './keys.ts'
import { createQueueNames } from './queue-names.ts'
import { createSequence } from './sequence.ts'
import { buildTick, queueOf, sendTick, type TickEntry, type TickSender, type TickStep } from './tick-step.ts'

/** How long one tick goes on resending; the caller then looks anew. */
const RESEND_MS = 2_000
/** Crons read in one command. */
const READ_PAGE = 500

/** @param options.defaultsOf what a queue gets that a cron's run makes */
export function createCronSource(
  engine: Engine,
  shard: number,
  options: { defaultsOf(team: string): QueueSettings },
): CronSource {
  const keys = shardKeys(engine, shard)
  const sender: TickSender = {
    engine,
    keys,
    names: createQueueNames(engine, null),
    sequence: createSequence(engine, keys),
    nonce: randomBytes(6).toString('base64url'),
    defaultsOf: (team) => options.defaultsOf(team),
  }
  let isTimeKnown = false
  return {
    shard,
    nextDueMs: async () => {
      if (!isTimeKnown) await learnTime(engine, keys)
      isTimeKnown = true
      const head = await engine.runner.read((redis) => redis.zrange(keys.crons, '0', '0', 'WITHSCORES'))
      return head[1] === undefined ? null : Number(head[1])
    },
    due: (skip) => readDue(engine, keys, skip),
    upcoming: (afterMs, untilMs, limit) => readUpcoming(engine, keys, { afterMs, untilMs, limit }),
    prepare: (decided) => prepare(sender, decided),
    hint: () => hintWake(engine, shard),
    redisNowMs: () => engine.runner.redisNowMs(shard),
  }
}

/** By our own clock, should it be wrong, ticks would be missed that can run. A promotion of nothing tells the time. */
async function learnTime(engine: Engine, keys: ShardKeys): Promise<void> {
  const shard = [keys.clk, keys.ex, keys.near, keys.ring]
  const [now] = (await engine.runner.run('promote', shard, [LEASE_MS, 0, 0])) as [string]
  engine.runner.noteRedisTime(keys.shard, Number(now))
}

async function readDue(engine: Engine, keys: ShardKeys, skip: number): Promise<DueCron[]> {
  const nowMs = engine.runner.redisNowMs(keys.shard)
  const ids = await engine.runner.read((redis) =>
    redis.zrangebyscore(keys.crons, '-inf', nowMs, 'LIMIT', skip, TICK_BATCH_MAX),
  )
  return readCrons(engine, keys, ids, TICK_BATCH_BYTES_MAX)
}

async function readUpcoming(
  engine: Engine,
  keys: ShardKeys,
  { afterMs, untilMs, limit }: { afterMs: number; untilMs: number; limit: number },
): Promise<DueCron[]> {
  const ids = await engine.runner.read((redis) =>
    redis.zrangebyscore(keys.crons, `(${afterMs}`, untilMs, 'LIMIT', 0, limit),
  )
  const crons: DueCron[] = []
  let bytesLeft = UPCOMING_BYTES_MAX
  for (let i = 0; i < ids.length && bytesLeft > 0; i += READ_PAGE) {
    const page = await readCrons(engine, keys, ids.slice(i, i + READ_PAGE), bytesLeft)
    crons.push(...page)
    for (const { bytes } of page) bytesLeft -= bytes
  }
  return crons
}

/** In their order, up to so many bytes of definitions, at least one. */
async function readCrons(
  engine: Engine,
  keys: ShardKeys,
  ids: readonly string[],
  bytesMax: number,
): Promise<DueCron[]> {
  if (ids.length === 0) return []
  const states = await engine.runner.read((redis) => redis.hmget(keys.ks, ...ids))
  const page = withinBytes(
    ids.map((id, i) => ({ id, state: typeof states[i] === 'string' ? decodeState(states[i]) : null })),
    bytesMax,
  )
  if (page.length === 0) return []
  const definitions = await engine.runner.read((redis) => redis.hmget(keys.kd, ...page.map(({ id }) => id)))
  return page.flatMap(({ id, state }, i): DueCron[] => {
    const definition = definitions[i]
    if (typeof definition !== 'string' || state.tickMs === null) return []
    return [
      {
        cronId: Number(id),
        version: state.version,
        ...decodeDefinition(definition, state.isActive),
        bytes: state.bytes,
        expectedMs: state.tickMs,
        spreadMs: state.spreadMs,
        running: state.running,
      },
    ]
  })
}

interface ReadCron {
  readonly id: string
  readonly state: CronStateRecord
}

function withinBytes(
  crons: ReadonlyArray<{ id: string; state: CronStateRecord | null }>,
  bytesMax: number,
): ReadCron[] {
  const page: ReadCron[] = []
  let bytes = 0
  for (const { id, state } of crons) {
    if (state === null) continue
    bytes += state.bytes
    if (page.length > 0 && bytes > bytesMax) break
    page.push({ id, state })
  }
  return page
}

async function prepare(sender: TickSender, decided: readonly DecidedCron[]): Promise<PreparedTicks[]> {
  const prepared: PreparedTicks[] = []
  for (const page of pagesOf(decided)) {
    const entries: TickEntry[] = []
    const queues: TickStep['queues'][number][] = []
    for (const each of page) {
      const queue = each.run.length === 0 ? null : await queueOf(sender, each.cron, RESEND_MS)
      const canRun = typeof queue !== 'string'
      entries.push(await entryOf(sender.engine, canRun ? each : withoutRuns(each)))
      queues.push(canRun ? queue : null)
    }
    const step = await buildTick(sender, entries, queues, RESEND_MS)
    prepared.push({ crons: entries.length, send: () => send(sender, step) })
  }
  return prepared
}

async function send(sender: TickSender, step: TickStep): Promise<TickAnswer> {
  const { outcomes } = await sendTick(sender, step, RESEND_MS)
  let started = 0
  let outdated = 0
  outcomes.forEach(({ code }, i) => {
    if (code === 'd') started += step.entries[i]?.run.length ?? 0
    if (code === 'o' || code === 'n') outdated += 1
  })
  return { started, outdated }
}

/** Where the shard can hold no queue more, the ticks are missed: to wait for it would hold up all other crons. */
function withoutRuns(decided: DecidedCron): DecidedCron {
  const { run, missed } = decided
  const firstMs = missed?.firstMs ?? run[0] ?? 0
  const lastMs = run.at(-1) ?? missed?.lastMs ?? firstMs
  return { ...decided, run: [], missed: { firstMs, lastMs, count: (missed?.count ?? 0) + run.length } }
}

function pagesOf(decided: readonly DecidedCron[]): DecidedCron[][] {
  const pages: DecidedCron[][] = []
  let page: DecidedCron[] = []
  let runs = 0
  let bytes = 0
  for (const each of decided) {
    const size = each.run.length * each.cron.bytes
    const isFull = runs + each.run.length > TICK_BATCH_MAX || bytes + size > TICK_BATCH_BYTES_MAX
    if (page.length > 0 && isFull) {
      pages.push(page)
      page = []
      runs = 0
      bytes = 0
    }
    page.push(each)
    runs += each.run.length
    bytes += size
  }
  if (page.length > 0) pages.push(page)
  return pages
}

async function entryOf(engine: Engine, { cron, run, missed, nextMs }: DecidedCron): Promise<TickEntry> {
  const { cronId, team, version, settings, expectedMs, running } = cron
  return {
    cronId,
    team,
    version,
    settings,
    expectedMs,
    nextMs,
    missed,
    run,
    endedRun: await endedRun(engine, cron.settings.concurrencyPolicy === 'forbid' ? running : null),
  }
}

/** Only where concurrency is forbidden: a run that will never end would be the last one. */
async function endedRun(engine: Engine, running: number | null): Promise<number | null> {
  return running !== null && (await hasEnded(engine, running)) ? running : null
}
