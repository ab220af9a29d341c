import { randomBytes } from 'node:crypto'
import { TICK_BATCH_BYTES_MAX, TICK_BATCH_MAX } from '../domain/limits.ts'
import type { QueueSettings } from '../domain/queue-settings.ts'
import type { CronSource, DecidedCron, DueCron, TickAnswer } from '../ports/cron-source.ts'
import { decodeDefinition, decodeState, type CronStateRecord } from './cron-record.ts'
import { hasEnded } from './cron-reader.ts'
import { hintWake, shardKeys, type Engine } from './engine.ts'
import type { ShardKeys } from './keys.ts'
import { createQueueNames } from './queue-names.ts'
import { createSequence } from './sequence.ts'
import { sendTick, type TickEntry, type TickSender } from './tick-step.ts'

/** How long one tick goes on resending; the caller then looks anew. */
const RESEND_MS = 2_000

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
  return {
    shard,
    nextDueMs: async () => {
      const head = await engine.runner.read((redis) => redis.zrange(keys.crons, '0', '0', 'WITHSCORES'))
      return head[1] === undefined ? null : Number(head[1])
    },
    due: (skip) => readDue(engine, keys, skip),
    tick: (decided) => tick(sender, decided),
    redisNowMs: () => engine.runner.redisNowMs(shard),
  }
}

async function readDue(engine: Engine, keys: ShardKeys, skip: number): Promise<DueCron[]> {
  const nowMs = engine.runner.redisNowMs(keys.shard)
  const ids = await engine.runner.read((redis) =>
    redis.zrangebyscore(keys.crons, '-inf', nowMs, 'LIMIT', skip, TICK_BATCH_MAX),
  )
  if (ids.length === 0) return []
  const states = await engine.runner.read((redis) => redis.hmget(keys.ks, ...ids))
  const page = withinBytes(
    ids.map((id, i) => ({ id, state: typeof states[i] === 'string' ? decodeState(states[i]) : null })),
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

function withinBytes(crons: ReadonlyArray<{ id: string; state: CronStateRecord | null }>): ReadCron[] {
  const page: ReadCron[] = []
  let bytes = 0
  for (const { id, state } of crons) {
    if (state === null) continue
    bytes += state.bytes
    if (page.length > 0 && bytes > TICK_BATCH_BYTES_MAX) break
    page.push({ id, state })
  }
  return page
}

/** In as many steps as the runs' bytes and number ask for. */
async function tick(sender: TickSender, decided: readonly DecidedCron[]): Promise<TickAnswer> {
  let started = 0
  let outdated = 0
  for (const page of pagesOf(decided)) {
    const entries = await Promise.all(page.map((each) => entryOf(sender.engine, each)))
    const { woken, outcomes } = await sendTick(sender, entries, RESEND_MS)
    if (woken > 0) hintWake(sender.engine, sender.keys.shard)
    outcomes.forEach(({ code }, i) => {
      if (code === 'd') started += page[i]?.run.length ?? 0
      if (code === 'o' || code === 'n') outdated += 1
    })
  }
  return { started, outdated }
}

function pagesOf(decided: readonly DecidedCron[]): DecidedCron[][] {
  const pages: DecidedCron[][] = []
  let page: DecidedCron[] = []
  let runs = 0
  let bytes = 0
  for (const each of decided) {
    const size = each.run.length * (each.cron.settings.payload?.length ?? 0)
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
