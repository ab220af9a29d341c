import { knownQueue, type KnownQueue } from '../../base/names/known-queue.ts'
import { homeOfCron, shardKeys, type Engine } from '../../base/engine/engine.ts'
import {
  compareBytes,
  type NamesBegin,
  namesInShard,
  queueNamed,
  teamNames,
} from '../../base/names/team-names.ts'
import type { JobListQuery } from '../../../ports/jobs.ts'
import type { ListPosition } from './job-cursor.ts'

/** At most this many queues are read together, unless more are asked for. */
const QUEUES_AT_ONCE = 100

export interface ListedQueues {
  readonly queues: readonly KnownQueue[]
  /** The name behind which to go on; null = there are no more. */
  readonly last: string | null
}

/**
 * Lists the queues of a list by name, from a position on, and before them the hidden queue of a cron that is asked for.
 * The queues that a list is limited to are limited here and nowhere else.
 */
export async function queuesFrom(
  engine: Engine,
  query: Pick<JobListQuery, 'team' | 'filter' | 'queues'> & { readonly atOnce?: number },
  from: ListPosition | null,
): Promise<ListedQueues> {
  const { team, filter, queues: allowed, atOnce = QUEUES_AT_ONCE } = query
  if (filter.queue !== null) {
    const isAllowed = allowed === null || allowed.has(filter.queue)
    const known = isAllowed && from?.section !== null ? await queueNamed(engine, team, filter.queue) : null
    return { queues: known === null ? [] : [known], last: null }
  }
  if (allowed !== null) return allowedQueues(engine, { team, allowed }, from)
  const hidden = await hiddenQueue(engine, query, from)
  const begin = beginOf(from)
  const named = await teamNames(engine, { kind: 'queues', team, begin, limit: atOnce + 1 })
  const known = named.slice(0, atOnce).map(({ keys, name, id }) => ({ keys, localId: id, team, name }))
  const isMore = named.length > atOnce
  return { queues: [...hidden, ...known], last: isMore ? (known.at(-1)?.name ?? null) : null }
}

/** Lists the queues of one shard in the same way. */
export async function queuesOfShard(
  engine: Engine,
  { team, filter, shard }: Pick<JobListQuery, 'team' | 'filter'> & { readonly shard: number },
  from: ListPosition | null,
): Promise<ListedQueues> {
  if (filter.queue !== null) {
    const known = from?.section === null ? null : await queueNamed(engine, team, filter.queue)
    return { queues: known?.keys.shard === shard ? [known] : [], last: null }
  }
  const hidden = await hiddenQueue(engine, { team, filter }, from)
  const begin = beginOf(from)
  const page = { kind: 'queues', team, begin, limit: QUEUES_AT_ONCE } as const
  const { names, last } = await namesInShard(engine, shardKeys(engine, shard), page)
  const known = names.map(({ keys, name, id }) => ({ keys, localId: id, team, name }))
  return { queues: [...hidden.filter(({ keys }) => keys.shard === shard), ...known], last }
}

function beginOf(from: ListPosition | null): NamesBegin {
  return from === null ? '-' : `${from.section === null ? '(' : '['}${from.queue}`
}

async function allowedQueues(
  engine: Engine,
  { team, allowed }: { readonly team: string; readonly allowed: ReadonlySet<string> },
  from: ListPosition | null,
): Promise<ListedQueues> {
  const names = [...allowed].toSorted(compareBytes).filter((name) => {
    const order = from === null ? 1 : compareBytes(name, from.queue)
    return order > 0 || (order === 0 && from?.section !== null)
  })
  const now = names.slice(0, QUEUES_AT_ONCE)
  const known = await Promise.all(now.map((name) => queueNamed(engine, team, name)))
  const isMore = names.length > now.length
  return { queues: known.filter((queue) => queue !== null), last: isMore ? (now.at(-1) ?? null) : null }
}

/** Finds the queue of a cron that runs through no queue. It shares the cron's id, and has no name. */
async function hiddenQueue(
  engine: Engine,
  { team, filter }: Pick<JobListQuery, 'team' | 'filter'>,
  from: ListPosition | null,
): Promise<KnownQueue[]> {
  const isPast = from !== null && (from.queue !== '' || from.section === null)
  if (filter.cronId === null || isPast) return []
  const localId = String(Math.floor(filter.cronId / engine.shards.length))
  const queue = await knownQueue(engine, homeOfCron(engine, filter.cronId), localId)
  return queue !== null && queue.team === team && queue.name === '' ? [queue] : []
}
