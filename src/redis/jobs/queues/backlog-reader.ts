import type { Backlog, BacklogReader } from '../../../ports/queues.ts'
import { NO_WINDOWS, type WindowSource } from '../../../ports/windows.ts'
import type { Engine } from '../../base/engine/engine.ts'
import { step } from '../../base/engine/step.ts'
import { HeldQueues } from '../execute/claim/held-queues.ts'
import { nameOfExecutor } from '../../base/layout/executor-id.ts'
import type { ShardKeys } from '../../base/layout/keys.ts'
import { readShardUsage } from '../../ledger/quotas/usage-reader.ts'
import { suspectQueues } from './occupied-queues.ts'
import { sampleRing, type RingSample } from './ring-samples.ts'

export const READ_BACKLOG = step('read_backlog', import.meta.url, {
  keys: ['ring', 'nearSet', 'minutes', 'cronsDue', 'notices', 'bulksDue', 'clock'],
  args: ['horizonMs'],
  rows: {
    buckets: { keys: ['entries'], args: ['minute'] },
    executors: { keys: ['heldJobs'] },
    samples: { args: ['named', 'inRing'] },
    queues: { queueKeys: ['meta', 'ready', 'records', 'inFlight'] },
    suspectQueues: { queueKeys: ['meta', 'ready', 'records', 'inFlight'] },
  },
})

/** One reading counts this many minutes; a longer horizon would count too few jobs. */
const COUNTED_MINUTES_MAX = 4
/** One reading counts at most this many executors of a shard; more would be missing in `held` and `inFlight`. */
const COUNTED_EXECUTORS_MAX = 1_000
/** One reading counts at most this many queues with suspects of a shard, which stand for the others. */
const SUSPECT_QUEUES_MAX = 250
/** One reading considers the quota of calls of at most this many teams; the others count as if they had none. */
const BOUNDED_TEAMS_MAX = 250

interface TeamBacklog {
  /** '' = the queues are of several teams. */
  readonly team: string
  readonly ready: number
  readonly startable: number
  readonly oldestReadyMs: number | null
  /** true = their slots are in the usage of the team already, so that no quota of calls keeps them back. */
  readonly areSuspects: boolean
}

interface ShardBacklog extends Omit<Backlog, 'held' | 'usable' | 'ready' | 'oldestReadyMs'> {
  readonly teams: readonly TeamBacklog[]
  /** Each executor's id and its calls. */
  readonly held: ReadonlyArray<readonly [executor: string, calls: number]>
}

/**
 * Reads the backlog by a few commands per shard and two per sampled team, each bounded by the constants above.
 * @param windows these hold jobs back, which then do not wait for executors
 */
export function createBacklogReader(engine: Engine, windows: WindowSource = NO_WINDOWS): BacklogReader {
  let reading = 0
  const shards = engine.shards.map((keys) => ({ keys, held: new HeldQueues(engine, keys, windows) }))
  return {
    read: async (horizonMs, callQuotaOf = () => null) => {
      reading += 1
      const at = { horizonMs, reading }
      const read = await Promise.all(shards.map((shard) => readShard(engine, shard, at)))
      const headrooms = await headroomsOf(engine, read, callQuotaOf)
      const startable = read.map((shard) => ({
        ...shard,
        teams: shard.teams.map((one) => withinHeadroom(one, headrooms.get(one.team))),
      }))
      const sum = (of: (shard: ShardBacklog) => number) =>
        startable.reduce((total, shard) => total + of(shard), 0)
      const inFlight = sum((shard) => shard.inFlight)
      return {
        ready: sum((shard) => total(shard, ({ ready }) => ready)),
        inFlight,
        usable: inFlight + sum((shard) => total(shard, ({ startable }) => startable)),
        dueSoon: sum((shard) => shard.dueSoon),
        nextDueInMs: extreme(
          Math.min,
          startable.map((shard) => shard.nextDueInMs),
        ),
        oldestReadyMs: extreme(
          Math.max,
          startable.flatMap(({ teams }) => teams.map((one) => one.oldestReadyMs)),
        ),
        held: heldByName(startable),
      }
    },
  }
}

/** How many more calls a team's quota allows, and how many jobs could start without it. */
interface Headroom {
  readonly calls: number
  readonly startable: number
}

/**
 * Reads the headroom of the teams that have ready jobs and a quota of calls. Reads nothing when there is no such team.
 */
async function headroomsOf(
  engine: Engine,
  shards: readonly ShardBacklog[],
  callQuotaOf: (team: string) => number | null,
): Promise<ReadonlyMap<string, Headroom>> {
  const waiting = shards.flatMap(({ teams }) =>
    teams.filter(({ team, ready, areSuspects }) => !areSuspects && team !== '' && ready > 0),
  )
  const quotas = new Map<string, number>()
  for (const team of new Set(waiting.map((one) => one.team))) {
    const quota = callQuotaOf(team)
    if (quota !== null && quotas.size < BOUNDED_TEAMS_MAX) quotas.set(team, quota)
  }
  if (quotas.size === 0) return new Map()
  const names = [...quotas.keys()]
  const usages = await Promise.all(engine.shards.map((keys) => readShardUsage(engine, keys, names, 0)))
  return new Map(
    [...quotas].map(([team, quota]) => {
      const inFlight = usages.reduce((sum, { teams }) => sum + (teams.get(team)?.inFlight ?? 0), 0)
      const ofTeam = waiting.filter((one) => one.team === team)
      const startable = ofTeam.reduce((sum, one) => sum + one.startable, 0)
      return [team, { calls: Math.max(0, quota - inFlight), startable }]
    }),
  )
}

/** Jobs over a quota of calls do not wait for executors: more executors would start none of them. */
function withinHeadroom(one: TeamBacklog, headroom: Headroom | undefined): TeamBacklog {
  if (one.areSuspects || headroom === undefined || headroom.startable <= headroom.calls) return one
  if (headroom.calls === 0) return { ...one, ready: 0, startable: 0, oldestReadyMs: null }
  return { ...one, startable: (one.startable * headroom.calls) / headroom.startable }
}

function total({ teams }: ShardBacklog, of: (one: TeamBacklog) => number): number {
  return Math.round(teams.reduce((sum, one) => sum + of(one), 0))
}

async function readShard(
  engine: Engine,
  { keys, held }: { readonly keys: ShardKeys; readonly held: HeldQueues },
  { horizonMs, reading }: { readonly horizonMs: number; readonly reading: number },
): Promise<ShardBacklog> {
  const [sampled, found, [minutes, executors]] = await Promise.all([
    sampleRing(engine, keys, reading),
    suspectQueues(engine, keys),
    engine.runner.read((redis) =>
      Promise.all([
        redis.zrange(keys.minutes, '0', String(COUNTED_MINUTES_MAX - 1)),
        redis.zrange(keys.executors, '0', String(COUNTED_EXECUTORS_MAX - 1)),
      ]),
    ),
  ])
  const [samples, suspects] = await Promise.all([withoutHeld(sampled, held), suspectsToCount(found, held)])
  const reply = await engine.runner.run(
    READ_BACKLOG.with({
      keys,
      horizonMs,
      buckets: minutes.map((minute) => ({ minute, entries: keys.minuteBucket(Number(minute)) })),
      executors: executors.map((executor) => ({ heldJobs: keys.heldJobs(executor) })),
      samples: samples.map(({ queues, inRing }) => ({ named: queues.length, inRing })),
      queues: samples.flatMap(({ queues }) => queues.map((localId) => ({ localId }))),
      suspectQueues: suspects.localIds.map((localId) => ({ localId })),
    }),
  )
  const [now, ring, dueSoon, nextDue, holding, teams, ofSuspects] = reply as [
    now: string,
    ring: number,
    dueSoon: number,
    nextDue: string,
    holding: number[],
    teams: TeamRow[],
    ofSuspects: TeamRow[],
  ]
  const represented = sampled.reduce((sum, { inRing }) => sum + inRing, 0)
  const nowMs = Number(now)
  return {
    teams: [
      ...teams.map((row) => toTeam(row, { nowMs, factor: factorOf(ring, represented), areSuspects: false })),
      ...ofSuspects.map((row) =>
        toTeam(row, { nowMs, factor: factorOf(suspects.all, suspects.represented), areSuspects: true }),
      ),
    ],
    inFlight: holding.reduce((sum, calls) => sum + calls, 0),
    dueSoon,
    nextDueInMs: nextDue === '' ? null : Math.max(0, Number(nextDue) - Number(now)),
    held: executors.map((executor, i) => [executor, holding[i] ?? 0]),
  }
}

type TeamRow = [team: string, ready: string, startable: string, oldest: string]

function toTeam(
  [team, ready, startable, oldest]: TeamRow,
  { nowMs, factor, areSuspects }: { nowMs: number; factor: number; areSuspects: boolean },
): TeamBacklog {
  return {
    team,
    ready: Number(ready) * factor,
    startable: Number(startable) * factor,
    oldestReadyMs: oldest === '' ? null : Math.max(0, nowMs - Number(oldest)),
    areSuspects,
  }
}

/** Scales from what was read to all that there is. */
function factorOf(all: number, represented: number): number {
  return represented > 0 ? Math.max(1, all / represented) : 1
}

/** Finds the queues whose suspects could run, and how many suspects those that were found stand for. */
async function suspectsToCount(
  found: ReadonlyMap<string, number>,
  held: HeldQueues,
): Promise<{ localIds: readonly string[]; represented: number; all: number }> {
  const all = [...found.values()].reduce((sum, suspects) => sum + suspects, 0)
  const looked = [...found].slice(0, SUSPECT_QUEUES_MAX)
  const represented = looked.reduce((sum, [, suspects]) => sum + suspects, 0)
  const localIds = looked.map(([localId]) => localId)
  if (held.isEmpty || localIds.length === 0) return { localIds, represented, all }
  const ids = await held.among(localIds)
  return { localIds: localIds.filter((localId) => !ids.has(localId)), represented, all }
}

/** Held queues do not wait for executors, as more of them would start none of their jobs. */
async function withoutHeld(sampled: readonly RingSample[], held: HeldQueues): Promise<readonly RingSample[]> {
  if (held.isEmpty) return sampled
  const ids = await held.among(sampled.flatMap(({ queues }) => queues))
  return sampled.flatMap(({ queues, inRing }) => {
    const startable = queues.filter((localId) => !ids.has(localId))
    return startable.length === 0
      ? []
      : [{ queues: startable, inRing: (inRing * startable.length) / queues.length }]
  })
}

function extreme(pick: (...values: number[]) => number, all: ReadonlyArray<number | null>): number | null {
  const values = all.filter((value) => value !== null)
  return values.length === 0 ? null : pick(...values)
}

/** Sums up by process: an executor has a lease in each shard, and gets another id after each lease it lost. */
function heldByName(shards: readonly ShardBacklog[]): Map<string, number> {
  const held = new Map<string, number>()
  for (const [executor, calls] of shards.flatMap((shard) => shard.held)) {
    const name = nameOfExecutor(executor)
    held.set(name, (held.get(name) ?? 0) + calls)
  }
  return held
}
