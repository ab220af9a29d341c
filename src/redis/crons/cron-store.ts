import { randomBytes } from 'node:crypto'
import { StorageFullError, StoreUnavailableError } from '../../domain/errors.ts'
import { CRON_RECORDS_MAX, STORE_DEADLINE_MS } from '../../domain/limits.ts'
import type { Cron, CronRun, CronRunEnd, CronStore } from '../../ports/crons.ts'
import { listCrons } from './cron-listing.ts'
import { cronIdOf, findCron, readCron } from './cron-reader.ts'
import { readInShards } from './cron-shards.ts'
import { endedAmong } from './ended-runs.ts'
import { decodeRun } from '../layout/cron-record.ts'
import { CronWriter } from './write/cron-writer.ts'
import { hintWake, type Engine } from '../client/engine.ts'
import type { ShardKeys } from '../layout/keys.ts'
import { formatCursor, type ListScope, parseCursor } from '../names/list-cursor.ts'
import { QueueNames } from '../names/queue-names.ts'
import { createSequence } from '../enqueue/sequence.ts'
import { buildTick, queueOf, sendTick, type TickSender } from './tick/tick-step.ts'

const WITHOUT_EPOCH = 'a write without an epoch was superseded'
/** A run whose cron or queue is being changed is tried again this often. */
const RUN_TRIES_MAX = 4
const RUN_RESEND_MS = STORE_DEADLINE_MS / 2

export function createCronStore(engine: Engine): CronStore {
  const writer = new CronWriter(engine, null)
  const senders = createSenders(engine)
  return {
    list: (query) => listCrons(engine, query),
    get: (team, cronId) => ofTeam(engine, team, cronId),
    getByName: async (team, name) => {
      const cronId = await cronIdOf(engine, { team, name })
      return cronId === null ? null : readCron(engine, cronId)
    },
    apply: async (team, name, settings, formerId = null) => {
      const end = await writer.apply(team, name, settings, formerId)
      if (end.status === 'superseded') throw new Error(WITHOUT_EPOCH)
      return { cronId: end.cronId, nextRunAtMs: end.nextRunAtMs }
    },
    remove: async (team, name) => {
      const end = await writer.remove(team, name)
      if (end === 'superseded') throw new Error(WITHOUT_EPOCH)
      return end
    },
    runNow: (team, cronId) => runNow(engine, senders, team, cronId),
    runs: async ({ team, cronId, limit, cursor }) => {
      const position = cursor === null ? CRON_RECORDS_MAX : parseCursor(runsScope(team, cronId), cursor)
      const left = position === null ? Number.NaN : Number(position)
      if (Number.isNaN(left)) return 'bad_cursor'
      if ((await ofTeam(engine, team, cronId)) === null) return null
      return listRuns(engine, { team, cronId, limit, left })
    },
  }
}

async function ofTeam(engine: Engine, team: string, cronId: number): Promise<Cron | null> {
  const cron = await readCron(engine, cronId)
  return cron === null || cron.team !== team ? null : cron
}

function runsScope(team: string, cronId: number): ListScope {
  return ['cron runs', team, cronId]
}

function createSenders(engine: Engine): (keys: ShardKeys) => TickSender {
  const nonce = randomBytes(6).toString('base64url')
  const names = new QueueNames(engine)
  const senders = engine.shards.map((keys): TickSender => ({
    engine,
    keys,
    names,
    sequence: createSequence(engine, keys),
    nonce,
  }))
  return ({ shard }) => senders[shard] as TickSender
}

async function runNow(
  engine: Engine,
  senderOf: (keys: ShardKeys) => TickSender,
  team: string,
  cronId: number,
): Promise<CronRunEnd> {
  for (let tries = 0; tries < RUN_TRIES_MAX; tries += 1) {
    const found = await findCron(engine, cronId)
    if (found === null || found.cron.team !== team) return { status: 'not_found' }
    const { keys, cron } = found
    const { version, running } = found.state
    const ended = await endedAmong(engine, running === null ? [] : [running])
    const endedRun = running !== null && ended.has(running) ? running : null
    const askedMs = engine.runner.redisNowMs(keys.shard)
    const { settings } = cron
    const entry = { cronId, team, version, settings, expectedMs: null, nextMs: null, missed: null, endedRun }
    const sender = senderOf(keys)
    const queue = await queueOf(sender, entry, RUN_RESEND_MS)
    if (typeof queue === 'string') throw new StoreUnavailableError('The queue limit of this shard is reached')
    const step = await buildTick(sender, [{ ...entry, run: [askedMs] }], [queue], RUN_RESEND_MS)
    const reply = await sendTick(sender, step, RUN_RESEND_MS)
    const outcome = reply.outcomes[0]
    const jobId = step.jobIds[0]?.[0]
    if (outcome?.code === 'r') return { status: 'still_running', jobId: Number(outcome.value) }
    if (outcome?.code === 's') throw new StorageFullError()
    if (outcome?.code !== 'd' || jobId === undefined) continue
    if (reply.woken > 0) hintWake(engine, keys.shard)
    return { status: 'started', jobId, scheduledAtMs: Number(outcome.value) }
  }
  throw new StoreUnavailableError('The cron keeps changing while it is run')
}

async function listRuns(
  engine: Engine,
  page: {
    readonly team: string
    readonly cronId: number
    readonly limit: number
    /** Records left to list, counted from the oldest, so that new ones shift nothing. */
    readonly left: number
  },
): Promise<{ runs: CronRun[]; nextCursor: string | null }> {
  const { team, cronId, limit } = page
  const records = await readInShards(engine, cronId, async (keys, id) => {
    const [state, found] = await engine.runner.read((redis) =>
      Promise.all([
        redis.hget(keys.cronStates, id),
        redis.lrange(keys.cronRecords(id), 0, CRON_RECORDS_MAX - 1),
      ]),
    )
    return state === null ? null : found
  })
  if (records === null) return { runs: [], nextCursor: null }
  const start = Math.max(0, records.length - page.left)
  const runs = records.slice(start, start + limit).map(decodeRun)
  const left = records.length - start - runs.length
  return { runs, nextCursor: left <= 0 ? null : formatCursor(runsScope(team, cronId), String(left)) }
}
