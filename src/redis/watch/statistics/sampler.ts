import { addTally, emptyTally, type Tally } from '../../../domain/statistics/tally.ts'
import type { Engine } from '../../base/engine/engine.ts'
import { isCallbackQueue, queueIdOf, splitNameField, type ShardKeys } from '../../base/layout/keys.ts'
import { encodeFlow } from '../../base/layout/queue-record.ts'
import { ownerOfQueue, ownerOfTeam } from '../../base/layout/statistics/statistics-log.ts'
import type { LimitScan } from '../limit-warnings/limit-scan.ts'
import type { HeldQueues } from '../../jobs/execute/claim/held-queues.ts'
import { readParts, readySplitOf, type QueueParts } from '../../jobs/queues/queue-parts.ts'
import { editOpen, sound } from './tally-store.ts'

/** One sample counts at most this many queues of each list: of the ring those that are next, of the others any. */
const LISTED_MAX = 5_000
/**
 * One step counts at most this many queues, and changes at most this many tallies, so that it does not hold up other
 * steps.
 */
const PAGE_MAX = 250

interface QueueRound {
  readonly minute: number
  /** The queues with occupied slots. */
  readonly occupied: ReadonlySet<number>
  /** The queues that maintenance windows hold. */
  readonly held: HeldQueues
  /** The scan that reads these queues too; null = the limits of this minute were scanned already. */
  readonly scan: LimitScan | null
}

/** What a sample says. */
const SAMPLED = [
  'depth',
  'startable',
  'stopped',
  'oldestReadySeconds',
  'oldestStartableSeconds',
  'oldestQueue',
] as const
type Sample = Pick<Tally, (typeof SAMPLED)[number]>

/**
 * Counts the ready jobs of the queues that can have some, and notes them in the minute's tallies. Such queues are in
 * the ring, have occupied slots, had ready jobs a minute ago, are paused, or may be throttled; an idle queue is in none of these lists.
 * The minute is marked as counted with the last change, so one that is given up half way is counted anew. Two executors
 * that count at once write the same.
 *
 * @returns false when others changed the tallies all the time, so that the minute is still to be counted
 */
export async function sampleQueues(
  engine: Engine,
  keys: ShardKeys,
  { minute, occupied, held, scan }: QueueRound,
): Promise<boolean> {
  const [before, ring] = await Promise.all([
    engine.runner.read((redis) => redis.srandmember(keys.sampledQueues, LISTED_MAX)),
    engine.runner.read((redis) => redis.zrange(keys.ring, '0', String(LISTED_MAX - 1))),
  ])
  const occupiedFirst = Array.from(occupied, String).slice(0, LISTED_MAX)
  const listed = new Set([...(scan?.localIds ?? []), ...before, ...ring, ...occupiedFirst])
  const localIds = [...listed].filter((localId) => !isCallbackQueue(localId))
  const watchedBefore = new Set(before)
  const teams = new Map<string, Tally>()
  let isCounted = true
  for (let begin = 0; begin < localIds.length; begin += PAGE_MAX) {
    const page = localIds.slice(begin, begin + PAGE_MAX)
    const read = await readParts(engine, keys, page, scan?.asked)
    // The queues are scanned even when the count is given up, because the next try does not scan again.
    await scan?.scanQueues(read)
    const heldIds = await held.among(page)
    const { samples, watched } = samplesOf(engine, read, { keys, heldIds, watchedBefore, teams })
    const edits = editsOf(samples)
    isCounted = isCounted && (await editOpen(engine, keys, { minute, edits, watched }))
  }
  if (!isCounted) return false
  const owners = [...teams].map(([team, sample]) => [ownerOfTeam(team), sample] as const)
  for (let begin = 0; ; begin += PAGE_MAX) {
    const edits = editsOf(owners.slice(begin, begin + PAGE_MAX))
    const isLast = begin + PAGE_MAX >= owners.length
    if (!(await editOpen(engine, keys, { minute, edits, ...(isLast && { sampledMinute: minute }) })))
      return false
    if (isLast) return true
  }
}

interface Sampled {
  readonly keys: ShardKeys
  readonly heldIds: ReadonlySet<string>
  readonly watchedBefore: ReadonlySet<string>
  /** What has been counted so far, by team. */
  readonly teams: Map<string, Tally>
}

/** Counts queues, and adds them to their teams. */
function samplesOf(
  engine: Engine,
  read: readonly QueueParts[],
  { keys, heldIds, watchedBefore, teams }: Sampled,
): { samples: Array<readonly [owner: string, Sample]>; watched: Map<string, boolean> } {
  const watched = new Map<string, boolean>()
  const samples = read.flatMap((parts) => {
    const { localId, nameField, isActive, flow, counts } = parts
    const isWatched = nameField !== '' && (counts.pending > 0 || !isActive || encodeFlow(flow) !== '')
    if (isWatched !== watchedBefore.has(localId)) watched.set(localId, isWatched)
    if (nameField === '' || counts.pending === 0) return []
    const named = sound(engine, localId, (isAside) => (isAside ? null : splitNameField(nameField)))
    if (named === null) return []
    const { team, queue } = named
    const queueId = queueIdOf(localId, keys.shard, engine.shards.length)
    const sample = sampleOf(parts, heldIds.has(localId))
    addSample(teams, team, { ...sample, oldestQueue: queue !== '' && sample.startable > 0 ? queueId : 0 })
    // The hidden queue of a cron has no statistics of its own.
    return queue === '' ? [] : [[ownerOfQueue(localId), sample] as const]
  })
  return { samples, watched }
}

function sampleOf(parts: QueueParts, isHeld: boolean): Sample {
  const { startable, stopped, oldestStartableMs } = readySplitOf(parts, isHeld)
  return {
    depth: parts.counts.pending,
    startable,
    stopped: stopped?.jobs ?? 0,
    oldestReadySeconds: Math.floor((parts.oldestReadyMs ?? 0) / 1000),
    oldestStartableSeconds: Math.floor((oldestStartableMs ?? 0) / 1000),
    oldestQueue: 0,
  }
}

function addSample(teams: Map<string, Tally>, team: string, sample: Sample): void {
  const sum = teams.get(team) ?? emptyTally()
  addTally(sum, { ...emptyTally(), ...sample }, 'sum')
  teams.set(team, sum)
}

/** A sample replaces an earlier one of the same minute. */
function editsOf(
  samples: ReadonlyArray<readonly [owner: string, Sample]>,
): Map<string, (tally: Tally) => void> {
  return new Map(
    samples.map(([owner, sample]) => [
      owner,
      (tally) => {
        for (const name of SAMPLED) tally[name] = sample[name]
      },
    ]),
  )
}
