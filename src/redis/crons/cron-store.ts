import { randomBytes } from 'node:crypto'
import { StorageFullError, StoreUnavailableError } from '../../domain/errors.ts'
import { CRON_RECORDS_MAX, STORE_DEADLINE_MS } from '../../domain/limits.ts'
import type { QueueSettings } from '../../domain/jobs/queue-settings.ts'
import type { Cron, CronRun, CronRunEnd, CronStore } from '../../ports/crons.ts'
import { listCrons } from './cron-listing.ts'
import { cronIdOf, findCron, hasEnded, readAtPlace, readCron } from './cron-reader.ts'
import { decodeRun } from '../layout/cron-record.ts'
import { createCronWriter } from './write/cron-writer.ts'
import { hintWake, type Engine } from '../client/engine.ts'
import type { ShardKeys } from '../layout/keys.ts'
import { createQueueNames } from '../names/queue-names.ts'
import { createSequence } from '../enqueue/sequence.ts'
import { buildTick, queueOf, sendTick, type TickSender } from './tick/tick-step.ts'

const WITHOUT_EPOCH = 'a write without an epoch was superseded'
/** A run whose cron or queue is being changed is tried again this often. */
const RUN_TRIES_MAX = 4
const RUN_RESEND_MS = STORE_DEADLINE_MS / 2

/** @param options.defaultsOf what a queue gets that a run by hand makes */
export function createCronStore(
  engine: Engine,
  options: { defaultsOf(team: string): QueueSettings },
): CronStore {
  const writer = createCronWriter(engine, null)
  const senders = createSenders(engine, (team) => options.defaultsOf(team))
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
      const position = cursor === null ? null : parseRunsCursor(cursor)
      if (position === 'bad_cursor') return 'bad_cursor'
      if ((await ofTeam(engine, team, cronId)) === null) return null
      return listRuns(engine, cronId, limit, position)
    },
  }
}

async function ofTeam(engine: Engine, team: string, cronId: number): Promise<Cron | null> {
  const cron = await readCron(engine, cronId)
  return cron === null || cron.team !== team ? null : cron
}

/** A place in the records, counted from the oldest, so that new ones shift nothing. */
function parseRunsCursor(text: string): { readonly left: number } | 'bad_cursor' {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'))
    const left: unknown = Array.isArray(parsed) && parsed.length === 1 ? parsed[0] : null
    return typeof left === 'number' && Number.isSafeInteger(left) && left >= 0 ? { left } : 'bad_cursor'
  } catch {
    return 'bad_cursor'
  }
}

function createSenders(
  engine: Engine,
  defaultsOf: (team: string) => QueueSettings,
): (keys: ShardKeys) => TickSender {
  const nonce = randomBytes(6).toString('base64url')
  const names = createQueueNames(engine, null)
  const senders = engine.shards.map((keys): TickSender => ({
    engine,
    keys,
    names,
    sequence: createSequence(engine, keys),
    nonce,
    defaultsOf,
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
    const endedRun = running !== null && (await hasEnded(engine, running)) ? running : null
    const askedMs = engine.runner.redisNowMs(keys.shard)
    const { settings } = cron
    const entry = { cronId, team, version, settings, expectedMs: null, nextMs: null, missed: null, endedRun }
    const sender = senderOf(keys)
    const queue = await queueOf(sender, entry, RUN_RESEND_MS)
    if (typeof queue === 'string') throw new StoreUnavailableError('it holds as many queues as it may')
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
  throw new StoreUnavailableError('the cron changes under the run')
}

async function listRuns(
  engine: Engine,
  cronId: number,
  limit: number,
  from: { readonly left: number } | null,
): Promise<{ runs: CronRun[]; nextCursor: string | null }> {
  const records = await readAtPlace(engine, cronId, async (keys, id) => {
    const [state, found] = await engine.runner.read((redis) =>
      Promise.all([
        redis.hget(keys.cronStates, id),
        redis.lrange(keys.cronRecords(id), 0, CRON_RECORDS_MAX - 1),
      ]),
    )
    return state === null ? null : found
  })
  if (records === null) return { runs: [], nextCursor: null }
  const start = from === null ? 0 : Math.max(0, records.length - from.left)
  const page = records.slice(start, start + limit)
  const left = records.length - start - page.length
  return {
    runs: page.map(decodeRun),
    nextCursor: left <= 0 ? null : Buffer.from(JSON.stringify([left])).toString('base64url'),
  }
}
