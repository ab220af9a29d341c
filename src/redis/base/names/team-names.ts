import type { KnownQueue } from './known-queue.ts'
import { shardOfQueue, type Engine } from '../engine/engine.ts'
import { step } from '../engine/step.ts'
import { nameField, type ShardKeys } from '../layout/keys.ts'

export const LIST_NAMES = step('list_names', import.meta.url, {
  keys: ['index', 'ids'],
  args: ['team', 'begin', 'limit'],
})

export interface NamedId {
  readonly keys: ShardKeys
  readonly name: string
  /** The local id of a queue, or the whole id of a cron. */
  readonly id: string
}

/** The first name, the one after this one, or this one if it exists. */
export type NamesBegin = '-' | `(${string}` | `[${string}`

interface NamesPage {
  readonly kind: 'queues' | 'crons'
  readonly team: string
  readonly begin: NamesBegin
  readonly limit: number
}

/** Names read from a shard beyond its even share, so that one round trip is nearly always enough. */
const SPARE_NAMES = 8

/** Names read from one shard so far. */
interface Lane {
  readonly keys: ShardKeys
  readonly names: NamedId[]
  /** The last name read, even one without an id. */
  last: string | null
  isAtEnd: boolean
}

/**
 * A page of a team's names over all shards, in the order of their bytes. All shards are read at once; where one has many
 * more names than its share, they are read again with twice the limit.
 */
export async function teamNames(engine: Engine, page: NamesPage): Promise<NamedId[]> {
  const lanes = engine.shards.map((keys): Lane => ({ keys, names: [], last: null, isAtEnd: false }))
  let wanted = Math.min(page.limit, 2 * Math.ceil(page.limit / lanes.length) + SPARE_NAMES)
  for (;;) {
    const unread = lanes.filter(({ names, isAtEnd }) => !isAtEnd && names.length < page.limit)
    await Promise.all(unread.map((lane) => readLane(engine, page, { lane, wanted })))
    const known = mergeLanes(lanes)
    if (known.length >= page.limit || unread.length === 0) return known.slice(0, page.limit)
    wanted *= 2
  }
}

/** A page of a team's names in one shard; `last` is the name to go on behind, null at the end. */
export async function namesInShard(
  engine: Engine,
  keys: ShardKeys,
  page: NamesPage,
): Promise<{ readonly names: readonly NamedId[]; readonly last: string | null }> {
  const lane: Lane = { keys, names: [], last: null, isAtEnd: false }
  await readLane(engine, page, { lane, wanted: page.limit })
  return { names: lane.names, last: lane.isAtEnd ? null : lane.last }
}

async function readLane(
  engine: Engine,
  { kind, team, limit, begin }: NamesPage,
  { lane, wanted }: { lane: Lane; wanted: number },
): Promise<void> {
  const { keys, names } = lane
  const asked = Math.min(wanted, limit - names.length)
  const flat = (await engine.runner.run(
    LIST_NAMES.with({
      index: kind === 'queues' ? keys.teamQueues(team) : keys.teamCrons(team),
      ids: kind === 'queues' ? keys.queueIds : keys.cronIds,
      team,
      begin: lane.last === null ? begin : `(${lane.last}`,
      limit: asked,
    }),
  )) as string[]
  for (let i = 0; i < flat.length; i += 2) {
    const [name = '', id = ''] = flat.slice(i, i + 2)
    // Lost writes can leave a name without an id.
    if (id !== '') names.push({ keys, name, id })
    lane.last = name
  }
  lane.isAtEnd = flat.length < 2 * asked
}

/** All names up to the first one behind which a lane may hold more. */
function mergeLanes(lanes: readonly Lane[]): NamedId[] {
  const sorted = lanes.flatMap(({ names }) => names).toSorted((a, b) => compareBytes(a.name, b.name))
  const ends = lanes.flatMap(({ isAtEnd, last }) => (isAtEnd ? [] : [last ?? '']))
  const [end] = ends.toSorted(compareBytes)
  return end === undefined ? sorted : sorted.filter(({ name }) => compareBytes(name, end) <= 0)
}

/** The order of Redis: by the bytes of UTF-8. */
export function compareBytes(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i += 1) {
    const [unitA, unitB] = [a.charCodeAt(i), b.charCodeAt(i)]
    if (unitA !== unitB) return rankOf(unitA) - rankOf(unitB)
  }
  return a.length - b.length
}

/** Ranks a UTF-16 unit as UTF-8 does, in which characters of two units come after all others. */
function rankOf(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit
}

/** The queue of this name, or null. */
export async function queueNamed(engine: Engine, team: string, name: string): Promise<KnownQueue | null> {
  const keys = shardOfQueue(engine, team, name)
  const localId = await engine.runner.read((redis) => redis.hget(keys.queueIds, nameField(team, name)))
  return localId === null ? null : { keys, localId, team, name }
}
