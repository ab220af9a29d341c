import type { KnownQueue } from '../chains/known-queue.ts'
import { shardOfQueue, type Engine } from '../client/engine.ts'
import { nameField, type ShardKeys } from '../layout/keys.ts'

/** What has names: queues by their local ids, crons by their whole ids. */
export type NamedKind = 'queues' | 'crons'

export interface NamedId {
  readonly keys: ShardKeys
  readonly name: string
  readonly id: string
}

/** The first name, the one after this one, or this one, if it is there. */
export type NamesBegin = '-' | `(${string}` | `[${string}`

export interface NamesPage {
  readonly kind: NamedKind
  readonly team: string
  readonly begin: NamesBegin
  readonly limit: number
}

/** Names asked of a shard beyond its even part, so that one round is nearly always enough. */
const UNEVEN_NAMES = 8

/** One shard's names of the team, as far as they have been read. */
interface Lane {
  readonly keys: ShardKeys
  readonly names: NamedId[]
  /** The last name read, also where it has no id. */
  last: string | null
  isAtEnd: boolean
}

/**
 * Names of a team over all shards, in the order of their bytes. All shards are asked at once; where one has many more
 * than its part, they are asked again, for twice as many each time.
 */
export async function teamNames(engine: Engine, page: NamesPage): Promise<NamedId[]> {
  const lanes = engine.shards.map((keys): Lane => ({ keys, names: [], last: null, isAtEnd: false }))
  let wanted = Math.min(page.limit, 2 * Math.ceil(page.limit / lanes.length) + UNEVEN_NAMES)
  for (;;) {
    const unread = lanes.filter(({ names, isAtEnd }) => !isAtEnd && names.length < page.limit)
    await Promise.all(unread.map((lane) => readOn(engine, page, lane, wanted)))
    const known = knownInOrder(lanes)
    if (known.length >= page.limit || unread.length === 0) return known.slice(0, page.limit)
    wanted *= 2
  }
}

async function readOn(engine: Engine, page: NamesPage, lane: Lane, wanted: number): Promise<void> {
  const { keys, names } = lane
  const { kind, team, limit } = page
  const asked = Math.min(wanted, limit - names.length)
  const index = kind === 'queues' ? keys.teamQueues(team) : keys.teamCrons(team)
  const begin: NamesBegin = lane.last === null ? page.begin : `(${lane.last}`
  const ids = kind === 'queues' ? keys.queueIds : keys.cronIds
  const flat = (await engine.runner.run({
    name: 'list_names',
    keys: [index, ids],
    args: [team, begin, asked],
  })) as string[]
  for (let i = 0; i < flat.length; i += 2) {
    const [name = '', id = ''] = flat.slice(i, i + 2)
    // A name without an id is one that lost writes have left behind.
    if (id !== '') names.push({ keys, name, id })
    lane.last = name
  }
  lane.isAtEnd = flat.length < 2 * asked
}

/** Up to the name from which on one of the lanes may hold more that nobody has read. */
function knownInOrder(lanes: readonly Lane[]): NamedId[] {
  const sorted = lanes.flatMap(({ names }) => names).toSorted((a, b) => compareBytes(a.name, b.name))
  const ends = lanes.flatMap(({ isAtEnd, last }) => (isAtEnd ? [] : [last ?? '']))
  const [end] = ends.toSorted(compareBytes)
  return end === undefined ? sorted : sorted.filter(({ name }) => compareBytes(name, end) <= 0)
}

/** As Redis orders names: by their bytes in UTF-8. */
function compareBytes(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i += 1) {
    const [unitA, unitB] = [a.charCodeAt(i), b.charCodeAt(i)]
    if (unitA !== unitB) return rankOf(unitA) - rankOf(unitB)
  }
  return a.length - b.length
}

/** In UTF-8 what takes two units of UTF-16 stands behind all that takes one. */
function rankOf(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit
}

/** The queue of this name, or null. */
export async function queueNamed(engine: Engine, team: string, name: string): Promise<KnownQueue | null> {
  const keys = shardOfQueue(engine, team, name)
  const localId = await engine.runner.read((redis) => redis.hget(keys.queueIds, nameField(team, name)))
  return localId === null ? null : { keys, localId, team, name }
}
