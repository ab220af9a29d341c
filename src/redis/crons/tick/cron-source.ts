import { randomBytes } from 'node:crypto'
import { LEASE_MS, TICK_BATCH_BYTES_MAX, TICK_BATCH_MAX, UPCOMING_BYTES_MAX } from '../../../domain/limits.ts'
import type { CronSource, DecidedCron, DueCron, PreparedTicks, TickAnswer } from '../../../ports/crons.ts'
import { definitionIn, stateIn, type CronStateRecord } from '../../layout/cron-record.ts'
import { endedAmong } from '../ended-runs.ts'
import { createCronsAside, type CronsAside } from './cron-quarantine.ts'
import { hintWake, shardKeys, shardOfQueue, type Engine } from '../../client/engine.ts'
import type { ShardKeys } from '../../layout/keys.ts'
import { QueueNames } from '../../names/queue-names.ts'
import { createSequence } from '../../enqueue/sequence.ts'
import { buildTick, queueOf, sendTick, type TickEntry, type TickSender, type TickStep } from './tick-step.ts'

/** How long one tick goes on resending; the caller then looks anew. */
const RESEND_MS = 2_000
/** Crons read in one command. */
const READ_PAGE = 500

export function createCronSource(engine: Engine, shard: number): CronSource {
  const keys = shardKeys(engine, shard)
  const sender: TickSender = {
    engine,
    keys,
    names: new QueueNames(engine),
    sequence: createSequence(engine, keys),
    nonce: randomBytes(6).toString('base64url'),
  }
  const aside = createCronsAside(engine.logger, () => engine.runner.redisNowMs(shard))
  const place: ListPlace = { engine, keys, aside }
  let isTimeKnown = false
  return {
    shard,
    setAside: ({ cronId, expectedMs, spreadMs }, reason) => aside.add(cronId, expectedMs + spreadMs, reason),
    nextDueMs: async () => {
      if (!isTimeKnown) await learnTime(engine, keys)
      isTimeKnown = true
      const head = await engine.runner.read((redis) =>
        redis.zrange(keys.cronsDue, '0', String(aside.size), 'WITHSCORES'),
      )
      return listedOf(place, head)[0]?.dueMs ?? null
    },
    due: (skip) => readDue(place, skip),
    upcoming: (afterMs, untilMs, limit) => readUpcoming(place, { afterMs, untilMs, limit }),
    prepare: (decided) => prepare(sender, decided),
    hint: () => hintWake(engine, shard),
    redisNowMs: () => engine.runner.redisNowMs(shard),
  }
}

/** By our own clock, should it be wrong, ticks would be missed that can run. A promotion of nothing tells the time. */
async function learnTime(engine: Engine, keys: ShardKeys): Promise<void> {
  const shard = [keys.clock, keys.executors, keys.nearSet, keys.ring, keys.teams]
  const [now] = (await engine.runner.run({ name: 'promote', keys: shard, args: [LEASE_MS, 0, 0] })) as [
    string,
  ]
  engine.runner.noteRedisTime(keys.shard, Number(now))
}

/** A shard's list of next ticks, and what is left out of it. */
interface ListPlace {
  readonly engine: Engine
  readonly keys: ShardKeys
  readonly aside: CronsAside
}

interface ListedCron {
  readonly id: string
  readonly dueMs: number
}

/** @param reply ids, each with its score */
function listedOf({ aside }: ListPlace, reply: readonly string[]): ListedCron[] {
  const listed: ListedCron[] = []
  for (let i = 0; i < reply.length; i += 2) {
    const [id = '', dueMs] = [reply[i], Number(reply[i + 1])]
    if (!aside.has(Number(id), dueMs)) listed.push({ id, dueMs })
  }
  return listed
}

async function readDue(place: ListPlace, skip: number): Promise<DueCron[]> {
  const { engine, keys, aside } = place
  const nowMs = engine.runner.redisNowMs(keys.shard)
  const limit = aside.size + TICK_BATCH_MAX
  const reply = await engine.runner.read((redis) =>
    redis.zrangebyscore(keys.cronsDue, '-inf', nowMs, 'WITHSCORES', 'LIMIT', skip, limit),
  )
  return readCrons(place, listedOf(place, reply).slice(0, TICK_BATCH_MAX), TICK_BATCH_BYTES_MAX)
}

async function readUpcoming(
  place: ListPlace,
  { afterMs, untilMs, limit }: { afterMs: number; untilMs: number; limit: number },
): Promise<DueCron[]> {
  const { engine, keys } = place
  const reply = await engine.runner.read((redis) =>
    redis.zrangebyscore(keys.cronsDue, `(${afterMs}`, untilMs, 'WITHSCORES', 'LIMIT', 0, limit),
  )
  const listed = listedOf(place, reply)
  const crons: DueCron[] = []
  let bytesLeft = UPCOMING_BYTES_MAX
  for (let i = 0; i < listed.length && bytesLeft > 0; i += READ_PAGE) {
    const page = await readCrons(place, listed.slice(i, i + READ_PAGE), bytesLeft)
    crons.push(...page)
    for (const { bytes } of page) bytesLeft -= bytes
  }
  return crons
}

/** In their order, up to so many bytes of definitions, at least one. Sets aside what cannot be read. */
async function readCrons(
  place: ListPlace,
  listed: readonly ListedCron[],
  bytesMax: number,
): Promise<DueCron[]> {
  if (listed.length === 0) return []
  const { engine, keys } = place
  const states = await engine.runner.read((redis) =>
    redis.hmget(keys.cronStates, ...listed.map(({ id }) => id)),
  )
  const page = withinBytes(
    listed.map((cron, i) => ({
      ...cron,
      state: states[i] ? (stateIn(states[i]) ?? ('damaged' as const)) : null,
    })),
    bytesMax,
  )
  const definitions = await engine.runner.read((redis) =>
    redis.hmget(keys.cronDefinitions, ...page.map(({ id }) => id)),
  )
  const crons: DueCron[] = []
  const faulty: FaultyCron[] = []
  page.forEach((cron, i) => {
    const read = dueCronOf(place, cron, definitions[i] ?? null)
    if (typeof read === 'string') faulty.push({ ...cron, reason: read })
    else crons.push(read)
  })
  if (faulty.length > 0) await setAside(place, faulty)
  return crons
}

interface ReadCron extends ListedCron {
  /** null when there is none. */
  readonly state: CronStateRecord | 'damaged' | null
}

interface FaultyCron extends ListedCron {
  readonly reason: string
}

function withinBytes(crons: readonly ReadCron[], bytesMax: number): ReadCron[] {
  const page: ReadCron[] = []
  let bytes = 0
  for (const cron of crons) {
    bytes += cron.state === null || cron.state === 'damaged' ? 0 : cron.state.bytes
    if (page.length > 0 && bytes > bytesMax) break
    page.push(cron)
  }
  return page
}

/** What is wrong with it, where it cannot be read. */
function dueCronOf(
  { engine, keys }: ListPlace,
  { id, state }: ReadCron,
  text: string | null,
): DueCron | string {
  if (state === null) return 'it has no state'
  if (state === 'damaged') return 'its state is damaged'
  const { version, tickMs, spreadMs, bytes, running } = state
  if (tickMs === null) return 'it has no next tick'
  if (![version, tickMs, spreadMs, bytes, running ?? 0].every(Number.isSafeInteger))
    return 'its state is damaged'
  if (text === null) return 'it has no definition'
  const { team, settings } = definitionIn(text, state.isActive) ?? {}
  if (team === undefined || settings === undefined) return 'its definition is damaged'
  const { queue } = settings
  if (queue !== null && shardOfQueue(engine, team, queue) !== keys) return 'its queue lives elsewhere'
  return { cronId: Number(id), version, team, settings, bytes, expectedMs: tickMs, spreadMs, running }
}

/** One that was removed or paused while it was read is not faulty: it is listed no more. */
async function setAside({ engine, keys, aside }: ListPlace, faulty: readonly FaultyCron[]): Promise<void> {
  const scores = await engine.runner.read((redis) =>
    redis.zmscore(keys.cronsDue, ...faulty.map(({ id }) => id)),
  )
  faulty.forEach(({ id, dueMs, reason }, i) => {
    if (scores[i] !== null && Number(scores[i]) === dueMs) aside.add(Number(id), dueMs, reason)
  })
}

async function prepare(sender: TickSender, decided: readonly DecidedCron[]): Promise<PreparedTicks[]> {
  const running = decided.flatMap(({ cron }) => forbiddingRun(cron) ?? [])
  const ended = await endedAmong(sender.engine, running)
  const prepared: PreparedTicks[] = []
  for (const page of pagesOf(decided)) {
    const entries: TickEntry[] = []
    const queues: TickStep['queues'][number][] = []
    for (const each of page) {
      const queue = each.run.length === 0 ? null : await queueOf(sender, each.cron, RESEND_MS)
      const canRun = typeof queue !== 'string'
      entries.push(entryOf(canRun ? each : withoutRuns(each), ended))
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
  outcomes.forEach(({ code, value }, i) => {
    // Without the due time of a run there was none: its team holds its share.
    if (code === 'd' && value !== '-') started += step.entries[i]?.run.length ?? 0
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

/** Only where concurrency is forbidden: a run that will never end would be the last one. */
function forbiddingRun({ settings, running }: DueCron): number | null {
  return settings.concurrencyPolicy === 'forbid' ? running : null
}

function entryOf({ cron, run, missed, nextMs }: DecidedCron, ended: ReadonlySet<number>): TickEntry {
  const { cronId, team, version, settings, expectedMs } = cron
  const running = forbiddingRun(cron)
  return {
    cronId,
    team,
    version,
    settings,
    expectedMs,
    nextMs,
    missed,
    run,
    endedRun: running !== null && ended.has(running) ? running : null,
  }
}
