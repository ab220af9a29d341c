import type { Tally } from '../../domain/statistics/tally.ts'
import type { Engine } from '../client/engine.ts'
import { step } from '../client/step.ts'
import { isCallbackQueue, splitNameField, type ShardKeys } from '../layout/keys.ts'
import { ownerOfQueue, ownerOfTeam } from '../layout/statistics-log.ts'
import { occupiedQueues } from '../queues/occupied-queues.ts'
import { editOpen, sound } from './tally-store.ts'

export const SAMPLE_QUEUES = step('sample_queues', import.meta.url, {
  rows: { queues: { queueKeys: ['meta', 'ready', 'records', 'inFlight'] } },
})

/** Queues of each list that one look counts: of the ring those that are next, of the others any. */
const LISTED_MAX = 5_000
/** Queues that one step counts, and tallies that one step changes, so that it does not hold up other steps. */
const PAGE_MAX = 250

/** Values that the step answers for a queue. */
export type SampledRow = [name: string, active: string, ready: number, suspects: number, oldestDue: string]

interface Sample {
  depth: number
  oldestReadySeconds: number
}

/**
 * Counts what is ready in the queues that can have ready jobs, and notes it in the minute's tallies: those in the ring,
 * those with taken slots, those that had ready jobs a minute ago, and those that are paused. An idle queue is in none
 * of these lists. The minute is marked as counted with the last change, so one that is given up half way is counted anew;
 * two executors that count at once write the same.
 *
 * @returns false when others changed the tallies all the time, so that the minute is still to be counted
 */
export async function sampleQueues(engine: Engine, keys: ShardKeys, minute: number): Promise<boolean> {
  const before = await engine.runner.read((redis) => redis.srandmember(keys.sampledQueues, LISTED_MAX))
  const [ring, occupied] = await Promise.all([
    engine.runner.read((redis) => redis.zrange(keys.ring, '0', String(LISTED_MAX - 1))),
    occupiedQueues(engine, keys),
  ])
  const listed = new Set([...before, ...ring, ...Array.from(occupied, String).slice(0, LISTED_MAX)])
  const localIds = [...listed].filter((localId) => !isCallbackQueue(localId))
  const watchedBefore = new Set(before)
  const teams = new Map<string, Sample>()
  for (let begin = 0; begin < localIds.length; begin += PAGE_MAX) {
    const page = localIds.slice(begin, begin + PAGE_MAX)
    const { samples, watched } = await samplePage(engine, keys, { page, watchedBefore, teams })
    const edits = editsOf(samples)
    if (!(await editOpen(engine, keys, { minute, edits, watched }))) return false
  }
  const owners = [...teams].map(([team, sample]) => [ownerOfTeam(team), sample] as const)
  for (let begin = 0; ; begin += PAGE_MAX) {
    const edits = editsOf(owners.slice(begin, begin + PAGE_MAX))
    const isLast = begin + PAGE_MAX >= owners.length
    if (!(await editOpen(engine, keys, { minute, edits, ...(isLast && { sampledMinute: minute }) })))
      return false
    if (isLast) return true
  }
}

/** Counts queues, and adds them to their teams. */
async function samplePage(
  engine: Engine,
  keys: ShardKeys,
  {
    page,
    watchedBefore,
    teams,
  }: {
    readonly page: readonly string[]
    readonly watchedBefore: ReadonlySet<string>
    readonly teams: Map<string, Sample>
  },
): Promise<{ samples: Array<readonly [owner: string, Sample]>; watched: Map<string, boolean> }> {
  const watched = new Map<string, boolean>()
  if (page.length === 0) return { samples: [], watched }
  const [now, rows] = (await engine.runner.run(
    SAMPLE_QUEUES.with({ keys, queues: page.map((localId) => ({ localId })) }),
  )) as [now: string, rows: SampledRow[]]
  const samples = rows.flatMap(([field, active, ready, , oldestDue], i) => {
    const localId = page[i] ?? ''
    const isWatched = field !== '' && (ready > 0 || active !== '1')
    if (isWatched !== watchedBefore.has(localId)) watched.set(localId, isWatched)
    if (field === '' || ready === 0) return []
    const ageMs = oldestDue === '' ? 0 : Math.max(0, Number(now) - Number(oldestDue))
    const sample = { depth: ready, oldestReadySeconds: Math.floor(ageMs / 1000) }
    const named = sound(engine, localId, (isAside) => (isAside ? null : splitNameField(field)))
    if (named === null) return []
    const { team, queue } = named
    const ofTeam = teams.get(team) ?? { depth: 0, oldestReadySeconds: 0 }
    ofTeam.depth += sample.depth
    ofTeam.oldestReadySeconds = Math.max(ofTeam.oldestReadySeconds, sample.oldestReadySeconds)
    teams.set(team, ofTeam)
    // The hidden queue of a cron has no statistics of its own.
    return queue === '' ? [] : [[ownerOfQueue(localId), sample] as const]
  })
  return { samples, watched }
}

/** A sample stands in place of an earlier one of the same minute. */
function editsOf(
  samples: ReadonlyArray<readonly [owner: string, Sample]>,
): Map<string, (tally: Tally) => void> {
  return new Map(
    samples.map(([owner, sample]) => [
      owner,
      (tally) => {
        tally.depth = sample.depth
        tally.oldestReadySeconds = sample.oldestReadySeconds
      },
    ]),
  )
}
