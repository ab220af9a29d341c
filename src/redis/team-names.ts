import type { KnownQueue } from './chain-reader.ts'
import { shardOfQueue, type Engine } from './engine.ts'
import { nameField, type ShardKeys } from './keys.ts'

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
  isAtEnd: boolean
}

/**
 * Names of a team over all shards, in the order of their bytes. All shards are asked at once; where one has many more
 * than its part, they are asked again, for twice as many each time.
 */
export async function teamNames(engine: Engine, page: NamesPage): Promise<NamedId[]> {
  const lanes = engine.shards.map((keys): Lane => ({ keys, names: [], isAtEnd: false }))
  let wanted = Math.min(page.limit, 2 * Math.ceil(page.limit / lanes.length) + UNEVEN_NAMES)
  for (;;) {
    const unread = lanes.filter(({ names, isAtEnd }) => !isAtEnd && names.length < page.limit)
    await Promise.all(unread.map((lane) => readOn(engine, page, lane, wanted)))
    const known = knownInOrder(lanes)
    if (known.length >= page.limit || lanes.every(({ isAtEnd }) => isAtEnd)) return known.slice(0, page.limit)
    wanted *= 2
  }
}

async function readOn(engine: Engine, page: NamesPage, lane: Lane, wanted: number): Promise<void> {
  const { keys, names } = lane
  const { kind, team, limit } = page
  const asked = Math.min(wanted, limit - names.length)
  const index = kind === 'queues' ? keys.qnOf(team) : keys.knOf(team)
  const last = names.at(-1)
  const begin: NamesBegin = last === undefined ? page.begin : `(${last.name}`
  const ids = kind === 'queues' ? keys.names : keys.kn
  const flat = (await engine.runner.run('list_names', [index, ids], [team, begin, asked])) as string[]
  for (let i = 0; i < flat.length; i += 2) names.push({ keys, name: flat[i] ?? '', id: flat[i + 1] ?? '' })
  lane.isAtEnd = flat.length < 2 * asked
}

/** Up to the name from which on one of the lanes may hold more that nobody has read. */
function knownInOrder(lanes: readonly Lane[]): NamedId[] {
  const sorted = lanes.flatMap(({ names }) => names).toSorted((a, b) => compareBytes(a.name, b.name))
  const ends = lanes.flatMap(({ isAtEnd, names }) => (isAtEnd ? [] : [names.at(-1)?.name ?? '']))
  const [end] = ends.toSorted(compareBytes)
  return end === undefined ? sorted : sorted.filter(({ name }) => compareBytes(name, end) <= 0)
}

/** As Redis orders names. Strings compare by UTF-16, which puts U+E000 to U+FFFF behind what lies beyond them. */
function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}

/** The queue of this name, or null. */
export async function queueNamed(engine: Engine, team: string, name: string): Promise<KnownQueue | null> {
  const keys = shardOfQueue(engine, team, name)
  const localId = await engine.runner.read((redis) => redis.hget(keys.names, nameField(team, name)))
  return localId === null ? null : { keys, localId, team, name }
}
