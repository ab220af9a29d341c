import { StoreUnavailableError } from '../../../domain/errors.ts'
import { cronScheduleOf, spreadOf, type CronSettings } from '../../../domain/crons/cron.ts'
import type { CronSchedule } from '../../../domain/crons/cron-schedule.ts'
import { missedTicks, oneMissed } from '../../../domain/crons/cron-tick.ts'
import { CRON_RECORDS_MAX, CRONS_PER_SHARD_MAX, LEASE_MS, STORE_DEADLINE_MS } from '../../../domain/limits.ts'
import { cronIdOf, homeOf, homeOfId, placesOf, placesText } from '../cron-reader.ts'
import {
  decodeState,
  definitionIn,
  encodeDefinition,
  missedRecord,
  scheduleHash,
} from '../../layout/cron-record.ts'
import { shardOfQueue, type Engine } from '../../client/engine.ts'
import { orWhenFull } from '../../client/faults.ts'
import { nameField, NO_QUEUE, type ShardKeys } from '../../layout/keys.ts'
import type { Argument } from '../../client/step.ts'

/** A cron that others move or remove meanwhile, or a clock read wrong, is tried again this often. */
const APPLY_TRIES_MAX = 4

export interface AppliedCron {
  readonly status: 'applied'
  readonly cronId: number
  readonly nextRunAtMs: number | null
}
type Superseded = { readonly status: 'superseded' }

/** Makes, changes, moves and removes crons. Throws StoreUnavailableError. */
export interface CronWriter {
  apply(
    team: string,
    name: string,
    settings: CronSettings,
    formerId: number | null,
  ): Promise<AppliedCron | Superseded>
  remove(team: string, name: string): Promise<'removed' | 'not_found' | 'superseded'>
}

/** @param epoch the leader's; null = there is no leader */
export function createCronWriter(engine: Engine, epoch: number | null): CronWriter {
  const highest = new Map<number, number>()
  return {
    apply: async (team, name, settings, formerId) => {
      const schedule = cronScheduleOf(settings)
      // Before anything is changed: a cron must not be left half way.
      if ('problem' in schedule)
        throw new Error(`cron ${team}/${name}: ${schedule.field} ${schedule.problem}`)
      const home = homeOf(engine, team, name)
      for (let tries = 0; tries < APPLY_TRIES_MAX; tries += 1) {
        const cronId = await reserve(engine, epoch, { home, team, name, formerId, highest })
        if (cronId === 'superseded') return { status: 'superseded' }
        const end = await place(engine, epoch, { cronId, home, team, name, settings, schedule })
        if (end !== 'moved') return end
      }
      throw new StoreUnavailableError('The cron keeps being moved or removed')
    },
    remove: (team, name) => remove(engine, epoch, team, name),
  }
}

async function reserve(
  engine: Engine,
  epoch: number | null,
  cron: {
    home: ShardKeys
    team: string
    name: string
    formerId: number | null
    highest: Map<number, number>
  },
): Promise<number | 'superseded'> {
  const { home, team, name, formerId, highest } = cron
  const shards = engine.shards.length
  const isOurs = formerId !== null && formerId % shards === home.shard
  const former = isOurs ? String(Math.floor(formerId / shards)) : ''
  const field = nameField(team, name)
  const reserved = engine.runner.run(
    {
      name: 'reserve_cron',
      keys: [
        ...[
          home.cronIds,
          home.queueNumber,
          home.leaderEpoch,
          home.queue(former === '' ? NO_QUEUE : former).meta,
        ],
        ...[home.cronShards, home.cronStates, home.teamCrons(team)],
      ],
      args: [
        ...[field, highest.get(home.shard) ?? 0, CRONS_PER_SHARD_MAX, epoch ?? ''],
        ...[shards, home.shard, former],
      ],
    },
    STORE_DEADLINE_MS,
  )
  const reply = await orWhenFull(reserved, () =>
    engine.runner.read((redis) => redis.hget(home.cronIds, field)),
  )
  if (reply === '') throw new StoreUnavailableError('The cron limit of this shard is reached')
  if (reply === 'superseded') return reply
  const cronId = Number(reply)
  highest.set(home.shard, Math.max(highest.get(home.shard) ?? 0, Math.floor(cronId / shards)))
  return cronId
}

interface PlacedCron {
  readonly cronId: number
  readonly home: ShardKeys
  readonly team: string
  readonly name: string
  readonly settings: CronSettings
  readonly schedule: CronSchedule
}

/**
 * Puts the cron into the shard where it belongs. One that lives elsewhere is noted in both places and retired where it
 * was, and is not forgotten there before the new place has it: a crash in between is mended by the next apply. The note
 * is compared before each change: whoever moves or removes the cron at the same time makes this one look anew.
 */
async function place(
  engine: Engine,
  epoch: number | null,
  cron: PlacedCron,
): Promise<AppliedCron | Superseded | 'moved'> {
  const { cronId, home, team, settings } = cron
  const target = settings.queue === null ? home : shardOfQueue(engine, team, settings.queue)
  const noted = await placesOf(engine, cronId)
  const former = noted.filter((keys) => keys !== target)
  const places = [target, ...former]
  // Where it lived and stays there is nothing to note.
  const began = former.length === 0 ? 'placed' : await note(engine, epoch, cron, { from: noted, to: places })
  if (began !== 'placed') return began === 'superseded' ? { status: began } : 'moved'
  let brought: Brought = NOTHING_BROUGHT
  for (const keys of former) {
    const state = await retire(engine, epoch, keys, cronId)
    if (state === 'superseded') return { status: state }
    if (state.version > brought.version) brought = state
  }
  const set = await setCron(engine, epoch, cron, { keys: target, places, brought })
  // The step has looked at home, where it was sent there.
  if (set === 'moved' || set.status === 'superseded' || (places.length === 1 && target === home)) return set
  for (const keys of former) {
    const dropped = await drop(engine, epoch, keys, cronId)
    if (dropped === 'superseded') return { status: dropped }
  }
  const ended = await note(engine, epoch, cron, { from: places, to: [target] })
  if (ended === 'placed') return set
  if (ended === 'superseded') return { status: ended }
  // Removed since: nobody else knows that it is there.
  if (ended === 'gone' && target !== home) await drop(engine, epoch, target, cronId)
  return 'moved'
}

/** What a cron brings from the shard that it leaves. */
interface Brought {
  readonly text: string
  readonly version: number
  readonly definition: string
  readonly records: readonly string[]
}

const NOTHING_BROUGHT: Brought = { text: '', version: 0, definition: '', records: [] }

async function retire(
  engine: Engine,
  epoch: number | null,
  keys: ShardKeys,
  cronId: number,
): Promise<Brought | 'superseded'> {
  const id = String(cronId)
  const reply = (await engine.runner.run(
    {
      name: 'retire_cron',
      keys: [keys.cronsDue, keys.cronStates, keys.leaderEpoch],
      args: [id, epoch ?? ''],
    },
    STORE_DEADLINE_MS,
  )) as string
  if (reply === 'superseded') return reply
  if (reply === '') return NOTHING_BROUGHT
  const [definition, records] = await engine.runner.read((redis) =>
    Promise.all([
      redis.hget(keys.cronDefinitions, id),
      redis.lrange(keys.cronRecords(id), 0, CRON_RECORDS_MAX - 1),
    ]),
  )
  return { text: reply, version: decodeState(reply).version, definition: definition ?? '', records }
}

/** `gone`: the name has another id by now. `moved`: another place is noted than `from`. */
async function note(
  engine: Engine,
  epoch: number | null,
  { cronId, home, team, name }: PlacedCron,
  { from, to }: { readonly from: readonly ShardKeys[]; readonly to: readonly ShardKeys[] },
): Promise<'placed' | 'moved' | 'gone' | 'superseded'> {
  const reply = await engine.runner.run(
    {
      name: 'place_cron',
      keys: [home.cronIds, home.cronShards, home.leaderEpoch],
      args: [nameField(team, name), cronId, epoch ?? '', placesText(home, from), placesText(home, to)],
    },
    STORE_DEADLINE_MS,
  )
  return reply as 'placed' | 'moved' | 'gone' | 'superseded'
}

function drop(engine: Engine, epoch: number | null, keys: ShardKeys, cronId: number): Promise<unknown> {
  const id = String(cronId)
  return engine.runner.run(
    {
      name: 'drop_cron',
      keys: [keys.cronsDue, keys.cronDefinitions, keys.cronStates, keys.cronRecords(id), keys.leaderEpoch],
      args: [id, epoch ?? ''],
    },
    STORE_DEADLINE_MS,
  )
}

async function setCron(
  engine: Engine,
  epoch: number | null,
  { cronId, home, team, name, settings, schedule }: PlacedCron,
  { keys, places, brought }: { keys: ShardKeys; places: readonly ShardKeys[]; brought: Brought },
): Promise<AppliedCron | Superseded | 'moved'> {
  const definition = encodeDefinition({ team, name }, settings)
  const id = String(cronId)
  let overdue: Overdue | null = null
  for (let tries = 0; tries < APPLY_TRIES_MAX; tries += 1) {
    const nowMs = engine.runner.redisNowMs(keys.shard)
    const args: Argument[] = [
      ...[LEASE_MS, id, definition, scheduleHash(settings), settings.isActive ? 1 : 0],
      ...[
        spreadOf(cronId, settings.jitterSeconds),
        Buffer.byteLength(definition),
        schedule.next(nowMs) ?? '',
        nowMs,
      ],
      ...[epoch ?? '', keys === home ? nameField(team, name) : '', placesText(home, places)],
      ...(overdue === null ? ['', ''] : [overdue.tickMs, missedSince(overdue, nowMs)]),
      ...[CRON_RECORDS_MAX, brought.text, ...brought.records],
    ]
    const reply = (await engine.runner.run(
      {
        name: 'set_cron',
        keys: [
          keys.clock,
          keys.executors,
          keys.cronsDue,
          keys.cronDefinitions,
          keys.cronStates,
          keys.cronRecords(id),
          keys.leaderEpoch,
          keys.cronIds,
          keys.cronShards,
        ],
        args,
      },
      STORE_DEADLINE_MS,
    )) as [status: string, now: string, next: string, definition?: string]
    if (reply[0] === 'superseded') return { status: 'superseded' }
    if (reply[0] === 'moved') return 'moved'
    engine.runner.noteRedisTime(keys.shard, Number(reply[1]))
    if (reply[0] === 'overdue') overdue = overdueOf(reply[2], reply[3] || brought.definition)
    if (reply[0] !== 'set') continue
    return { status: 'applied', cronId, nextRunAtMs: reply[2] === '' ? null : Number(reply[2]) }
  }
  throw new StoreUnavailableError('The clock of Redis, or the tick of the cron, keeps changing')
}

/** Of a cron that is to count from now on: its tick that was due before, and by what it was. */
interface Overdue {
  readonly tickMs: number
  readonly spreadMs: number
  /** '' when it is lost; it may be damaged, and an edit must mend that. */
  readonly definition: string
}

function overdueOf(state: string, definition: string): Overdue {
  const { tickMs, spreadMs } = decodeState(state)
  if (tickMs === null) throw new Error('a cron without a tick cannot be overdue')
  return { tickMs, spreadMs, definition }
}

/** The record of the ticks up to now that nobody decides about any more. */
function missedSince({ tickMs, spreadMs, definition }: Overdue, nowMs: number): string {
  const defined = definitionIn(definition, true)
  const schedule = defined === null ? null : cronScheduleOf(defined.settings)
  const isKnown = schedule !== null && !('problem' in schedule)
  return missedRecord(isKnown ? missedTicks(schedule, tickMs, nowMs - spreadMs) : oneMissed(tickMs))
}

/** The home goes last, with the name: until then the cron can be found and its removal be asked for again. */
async function remove(
  engine: Engine,
  epoch: number | null,
  team: string,
  name: string,
): Promise<'removed' | 'not_found' | 'superseded'> {
  const cronId = await cronIdOf(engine, { team, name })
  if (cronId === null) return 'not_found'
  const home = homeOfId(engine, cronId)
  for (const keys of await placesOf(engine, cronId)) {
    if (keys !== home && (await drop(engine, epoch, keys, cronId)) === 'superseded') return 'superseded'
  }
  const id = String(cronId)
  const localId = String(Math.floor(cronId / engine.shards.length))
  const k = home.queue(localId)
  const answer = await engine.runner.run(
    {
      name: 'remove_cron',
      keys: [
        ...[
          home.cronIds,
          home.cronShards,
          home.cronsDue,
          home.cronDefinitions,
          home.cronStates,
          home.cronRecords(id),
        ],
        ...[
          home.ring,
          home.retentionDue,
          home.oldestCalls,
          home.settings,
          home.settingsUses,
          home.shardUsage,
        ],
        ...[
          k.meta,
          k.ready,
          k.inFlight,
          k.deadLetters,
          k.history,
          k.callRecords,
          k.failedCalls,
          k.successfulCalls,
          k.records,
          k.summaries,
          k.deadLetterRecords,
          k.payloads,
        ],
        ...[k.trashedRecords, k.trashedSummaries, k.trashedDeadLetterRecords, k.trashedPayloads],
        ...[home.leaderEpoch, home.teamCrons(team), home.teamUsage],
      ],
      args: [nameField(team, name), id, localId, epoch ?? ''],
    },
    STORE_DEADLINE_MS,
  )
  if (answer === 'superseded') return 'superseded'
  // Not by this step: an earlier one whose answer was lost, or somebody else. It was there, and is gone.
  return 'removed'
}
