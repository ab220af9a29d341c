import { randomBytes } from 'node:crypto'
import { StoreUnavailableError } from '../domain/errors.ts'
import { CRON_RECORDS_MAX, STORE_DEADLINE_MS } from '../domain/limits.ts'
import type { QueueSettings } from '../domain/queue-settings.ts'
import type { Cron, CronRun, CronRunEnd, CronStore } from '../ports/cron-store.ts'
import { cronIdOf, findCron, hasEnded, readAtPlace, readCron } from './cron-reader.ts'
import { decodeRun } from './cron-record.ts'
import { createCronWriter } from './cron-writer.ts'
import { hintWake, type Engine } from './engine.ts'
import { splitNameField, type ShardKeys } from './keys.ts'
import { createQueueNames } from './queue-names.ts'
import { createSequence } from './sequence.ts'
import { buildTick, queueOf, sendTick, type TickSender } from './tick-step.ts'

const WITHOUT_TERM = 'a write without a term was superseded'
const NAMES_PAGE = 1_000
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
    list: ({ team, limit, cursor }) => listCrons(engine, team, limit, cursor),
    get: (team, cronId) => ofTeam(engine, team, cronId),
    getByName: async (team, name) => {
      const cronId = await cronIdOf(engine, { team, name })
      return cronId === null ? null : readCron(engine, cronId)
    },
    apply: async (team, name, settings, formerId = null) => {
      const end = await writer.apply(team, name, settings, formerId)
      if (end.status === 'superseded') throw new Error(WITHOUT_TERM)
      return { cronId: end.cronId, nextRunAtMs: end.nextRunAtMs }
    },
    remove: async (team, name) => {
      const end = await writer.remove(team, name)
      if (end === 'superseded') throw new Error(WITHOUT_TERM)
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

async function listCrons(engine: Engine, team: string, limit: number, cursor: string | null) {
  const after = cursor === null ? null : parseNameCursor(cursor)
  if (after === 'bad_cursor') return 'bad_cursor' as const
  const all = await cronsOfTeam(engine, team)
  const rest = after === null ? all : all.filter(({ name }) => name > after.name)
  const crons = await Promise.all(rest.slice(0, limit).map(({ cronId }) => readCron(engine, cronId)))
  const last = rest[limit - 1]
  const isMore = rest.length > limit && last !== undefined
  return {
    crons: crons.filter((cron) => cron !== null),
    nextCursor: isMore ? Buffer.from(JSON.stringify([last.name])).toString('base64url') : null,
  }
}

/** By name, ascending. */
async function cronsOfTeam(engine: Engine, team: string): Promise<Array<{ name: string; cronId: number }>> {
  // A scan may give an entry twice.
  const found = new Map<string, number>()
  for (const keys of engine.shards) {
    let cursor = '0'
    do {
      const [next, flat] = await engine.runner.read((redis) =>
        redis.hscan(keys.kn, cursor, 'MATCH', `${team}/*`, 'COUNT', NAMES_PAGE),
      )
      cursor = next
      for (let i = 0; i < flat.length; i += 2) {
        found.set(splitNameField(flat[i] as string).queue, Number(flat[i + 1]))
      }
    } while (cursor !== '0')
  }
  return [...found]
    .map(([name, cronId]) => ({ name, cronId }))
    .toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
}

function parseNameCursor(text: string): { name: string } | 'bad_cursor' {
  const parsed = parseCursor(text)
  return typeof parsed === 'string' ? { name: parsed } : 'bad_cursor'
}

/** A place in the records, counted from the oldest, so that new ones shift nothing. */
function parseRunsCursor(text: string): { readonly left: number } | 'bad_cursor' {
  const parsed = parseCursor(text)
  return typeof parsed === 'number' && Number.isSafeInteger(parsed) && parsed >= 0
    ? { left: parsed }
    : 'bad_cursor'
}

function parseCursor(text: string): unknown {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'))
    return Array.isArray(parsed) && parsed.length === 1 ? parsed[0] : null
  } catch {
    return null
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
      Promise.all([redis.hget(keys.ks, id), redis.lrange(keys.kr(id), 0, CRON_RECORDS_MAX - 1)]),
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
