import type { Backlog, BacklogReader } from '../../ports/queues.ts'
import type { Engine } from '../client/engine.ts'
import { nameOfExecutor } from '../layout/executor-id.ts'
import type { ShardKeys } from '../layout/keys.ts'
import { bandRange } from '../layout/ring-bands.ts'
import { lookAtShard } from '../quotas/usage-reader.ts'

/** Teams of a shard, and queues of them all, one look goes through; what lies beyond is taken to be like these. */
const LOOKED_TEAMS_MAX = 64
const LOOKED_QUEUES_MAX = 500
/** Minutes one look counts; a horizon within which more begin would count too few. */
const LOOKED_MINUTES_MAX = 4
/** Executors of a shard one look counts; more would be missing in `held` and `inFlight`. */
const LOOKED_EXECUTORS_MAX = 1_000

/** Teams whose calls in flight one look counts; of further ones what is ready counts as if they had no quota. */
const BOUNDED_TEAMS_MAX = 250

interface TeamBacklog {
  /** '' = queues of several teams. */
  readonly team: string
  readonly ready: number
  readonly startable: number
  readonly oldestReadyMs: number | null
}

interface ShardBacklog extends Omit<Backlog, 'held' | 'usable' | 'ready' | 'oldestReadyMs'> {
  readonly suspects: number
  readonly teams: readonly TeamBacklog[]
  /** How many times what was looked at there is in all. */
  readonly beyond: number
  /** Executor id and its calls. */
  readonly held: ReadonlyArray<readonly [executor: string, calls: number]>
}

/** A few commands a shard, and two for each team that is looked at; each is bounded by the constants above. */
export function createBacklogReader(engine: Engine): BacklogReader {
  let turn = 0
  return {
    read: async (horizonMs, callQuotaOf = () => null) => {
      turn += 1
      const look = { horizonMs, turn }
      const read = await Promise.all(engine.shards.map((keys) => readShard(engine, keys, look)))
      const rooms = await roomsOf(engine, read, callQuotaOf)
      const shards = read.map((shard) => ({
        ...shard,
        teams: shard.teams.map((one) => withinRoom(one, rooms.get(one.team))),
      }))
      const sum = (of: (shard: ShardBacklog) => number) =>
        shards.reduce((total, shard) => total + of(shard), 0)
      const inFlight = sum((shard) => shard.inFlight)
      return {
        ready: sum((shard) => ofAll(shard, ({ ready }) => ready)),
        inFlight,
        usable: inFlight + sum((shard) => ofAll(shard, ({ startable }) => startable)),
        dueSoon: sum((shard) => shard.dueSoon),
        nextDueInMs: extreme(
          Math.min,
          shards.map((shard) => shard.nextDueInMs),
        ),
        oldestReadyMs: extreme(
          Math.max,
          shards.flatMap(({ teams }) => teams.map((one) => one.oldestReadyMs)),
        ),
        held: heldByName(shards),
      }
    },
  }
}

/** What a team's quota of calls in flight leaves, and how much could start without it. */
interface TeamRoom {
  readonly left: number
  readonly startable: number
}

/** Of the teams that have something ready and a quota; without any nothing is read. */
async function roomsOf(
  engine: Engine,
  shards: readonly ShardBacklog[],
  callQuotaOf: (team: string) => number | null,
): Promise<ReadonlyMap<string, TeamRoom>> {
  const waiting = shards.flatMap(({ teams }) => teams.filter(({ team, ready }) => team !== '' && ready > 0))
  const quotas = new Map<string, number>()
  for (const team of new Set(waiting.map((one) => one.team))) {
    const quota = callQuotaOf(team)
    if (quota !== null && quotas.size < BOUNDED_TEAMS_MAX) quotas.set(team, quota)
  }
  if (quotas.size === 0) return new Map()
  const names = [...quotas.keys()]
  const looks = await Promise.all(engine.shards.map((keys) => lookAtShard(engine, keys, names, 0)))
  return new Map(
    [...quotas].map(([team, quota]) => {
      const inFlight = looks.reduce((sum, { teams }) => sum + (teams.get(team)?.inFlight ?? 0), 0)
      const ofTeam = waiting.filter((one) => one.team === team)
      const startable = ofTeam.reduce((sum, one) => sum + one.startable, 0)
      return [team, { left: Math.max(0, quota - inFlight), startable }]
    }),
  )
}

/** What a quota holds back does not wait for executors: more of them would start none of it. */
function withinRoom(one: TeamBacklog, room: TeamRoom | undefined): TeamBacklog {
  if (room === undefined || room.startable <= room.left) return one
  if (room.left === 0) return { ...one, ready: 0, startable: 0, oldestReadyMs: null }
  return { ...one, startable: (one.startable * room.left) / room.startable }
}

function ofAll({ teams, suspects, beyond }: ShardBacklog, of: (one: TeamBacklog) => number): number {
  return Math.round(teams.reduce((sum, one) => sum + of(one), suspects) * beyond)
}

/** Queues of one team that can run: some of them by name, and how many there are. */
interface TeamSample {
  readonly queues: readonly string[]
  readonly size: number
}

/**
 * Teams at the head of the line and, with more than that, others from where this look's turn stands; of each the queues
 * that have waited longest. A team may be in line though it has nothing to run. When that goes for all of these, a
 * piece of the ring itself is looked at.
 */
async function sampleRing(engine: Engine, keys: ShardKeys, turn: number): Promise<readonly TeamSample[]> {
  const { runner } = engine
  const head = await runner.read((redis) => redis.zrange(keys.teams, '0', String(LOOKED_TEAMS_MAX / 2 - 1)))
  if (head.length === 0) return []
  const teams = new Set(head)
  if (head.length === LOOKED_TEAMS_MAX / 2) {
    const start = (turn * head.length) % (await runner.read((redis) => redis.zcard(keys.teams)))
    const others = await runner.read((redis) =>
      redis.zrange(keys.teams, String(start), String(start + head.length - 1)),
    )
    for (const team of others) teams.add(team)
  }
  const most = Math.floor(LOOKED_QUEUES_MAX / teams.size)
  const samples = await Promise.all(
    [...teams].map(async (team): Promise<TeamSample> => {
      const [from, to] = bandRange(team)
      const [queues, size] = await runner.read((redis) =>
        Promise.all([
          redis.zrange(keys.ring, from, to, 'BYSCORE', 'LIMIT', 0, most),
          redis.zcount(keys.ring, from, to),
        ]),
      )
      return { queues, size }
    }),
  )
  const running = samples.filter(({ queues }) => queues.length > 0)
  if (running.length > 0) return running
  const size = await runner.read((redis) => redis.zcard(keys.ring))
  const start = size === 0 ? 0 : (turn * LOOKED_QUEUES_MAX) % size
  const queues = await runner.read((redis) =>
    redis.zrange(keys.ring, String(start), String(start + LOOKED_QUEUES_MAX - 1)),
  )
  return queues.length === 0 ? [] : [{ queues, size }]
}

async function readShard(
  engine: Engine,
  keys: ShardKeys,
  look: { readonly horizonMs: number; readonly turn: number },
): Promise<ShardBacklog> {
  const [samples, [minutes, executors]] = await Promise.all([
    sampleRing(engine, keys, look.turn),
    engine.runner.read((redis) =>
      Promise.all([
        redis.zrange(keys.minutes, '0', String(LOOKED_MINUTES_MAX - 1)),
        redis.zrange(keys.executors, '0', String(LOOKED_EXECUTORS_MAX - 1)),
      ]),
    ),
  ])
  const declared = samples.flatMap(({ queues }) =>
    queues.flatMap((localId) => {
      const { meta: q, ready: r, records: b, inFlight: a } = keys.queue(localId)
      return [q, r, b, a]
    }),
  )
  const reply = await engine.runner.run({
    name: 'read_backlog',
    keys: [
      ...[keys.ring, keys.nearSet, keys.minutes, keys.cronsDue, keys.suspects],
      ...minutes.map((minute) => keys.minuteBucket(Number(minute))),
      ...executors.map((executor) => keys.heldJobs(executor)),
      ...declared,
    ],
    args: [
      ...[look.horizonMs, minutes.length, ...minutes, executors.length],
      ...[samples.length, ...samples.flatMap(({ queues, size }) => [queues.length, size])],
    ],
  })
  const [now, ring, suspects, dueSoon, nextDue, held, teams] = reply as [
    ...[now: string, ring: number, suspects: number, dueSoon: number, nextDue: string],
    ...[held: number[], teams: Array<[team: string, ready: string, startable: string, oldest: string]>],
  ]
  const looked = samples.reduce((sum, { size }) => sum + size, 0)
  return {
    suspects,
    teams: teams.map(([team, ready, startable, oldest]) => ({
      team,
      ready: Number(ready),
      startable: Number(startable),
      oldestReadyMs: oldest === '' ? null : Math.max(0, Number(now) - Number(oldest)),
    })),
    beyond: looked > 0 ? Math.max(1, ring / looked) : 1,
    inFlight: held.reduce((sum, calls) => sum + calls, 0),
    dueSoon,
    nextDueInMs: nextDue === '' ? null : Math.max(0, Number(nextDue) - Number(now)),
    held: executors.map((executor, i) => [executor, held[i] ?? 0]),
  }
}

function extreme(pick: (...values: number[]) => number, all: ReadonlyArray<number | null>): number | null {
  const values = all.filter((value) => value !== null)
  return values.length === 0 ? null : pick(...values)
}

/** An executor has a lease in each shard, and another id after each one that it lost. */
function heldByName(shards: readonly ShardBacklog[]): Map<string, number> {
  const held = new Map<string, number>()
  for (const [executor, calls] of shards.flatMap((shard) => shard.held)) {
    const name = nameOfExecutor(executor)
    held.set(name, (held.get(name) ?? 0) + calls)
  }
  return held
}
