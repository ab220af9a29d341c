import { step } from '../../base/engine/step.ts'
import { QUEUE } from '../../base/layout/fields.ts'
import { THROTTLED, throttleMark } from '../../base/layout/queue-record.ts'
import { bandOf } from '../../base/layout/ring-bands.ts'
import type { InspectedShard, ShardFacts } from './inspect-facts.ts'

export const READ_RING = step('read_ring', import.meta.url, {
  keys: ['ring', 'teams', 'nearSet'],
  queueKeys: ['meta', 'ready', 'inFlight'],
  args: ['localId'],
})

/** Everything that decides whether a queue belongs in the ring. */
interface RingEntry {
  /** undefined = not in the ring. */
  readonly score: number | undefined
  /** false = it is paused or throttled. */
  readonly isActive: boolean
  readonly isThrottled: boolean
  /** The near set says when it is to be looked after. */
  readonly isMarked: boolean
  /** undefined = no limit. */
  readonly max: number | undefined
  readonly teamNumber: string
  readonly ready: number
  readonly inFlight: number
  readonly isTeamKnown: boolean
}

/**
 * Checks that a queue is in the ring exactly when it may run. A busy queue enters and leaves the ring all the time, so
 * what looks wrong is read again in one step, and only that counts.
 */
export async function inspectRing(
  shard: InspectedShard,
  facts: ShardFacts,
  queue: {
    readonly id: string
    readonly live: ReadonlyMap<string, string>
    readonly ready: number
    readonly inFlight: number
  },
): Promise<void> {
  const { id, live } = queue
  const teamNumber = live.get(QUEUE.teamNumber) ?? ''
  const first = problemsOf(id, {
    score: facts.ring.get(id),
    isActive: live.get(QUEUE.active) === '1',
    isThrottled: live.get(QUEUE.active) === THROTTLED,
    isMarked: facts.near.has(throttleMark(id)),
    max: numberOrNone(live.get(QUEUE.maxParallel)),
    teamNumber,
    ready: queue.ready,
    inFlight: queue.inFlight,
    isTeamKnown: facts.teams.has(teamNumber),
  })
  if (Object.keys(first).length === 0) return
  const now = problemsOf(id, await readEntry(shard, id))
  if (now.ring !== undefined) shard.find(shard.keys.ring, now.ring)
  if (now.teams !== undefined) shard.find(shard.keys.teams, now.teams)
  if (now.nearSet !== undefined) shard.find(shard.keys.nearSet, now.nearSet)
}

/** Problems of an entry, in the ring, in `teams` and in the near set. */
function problemsOf(id: string, entry: RingEntry): { ring?: string; teams?: string; nearSet?: string } {
  const { score, teamNumber } = entry
  const isFree = entry.max === undefined || entry.inFlight < entry.max
  const mayRun = entry.isActive && entry.ready > 0 && isFree
  const { isThrottled, isMarked } = entry
  const mark = isThrottled
    ? `lacks the mark of queue ${id}, which is throttled`
    : `has a mark of queue ${id}, which is not throttled`
  const marked = isThrottled === isMarked ? {} : { nearSet: mark }
  if (score === undefined) return { ...marked, ...(mayRun && { ring: `lacks queue ${id}, which may run` }) }
  return {
    ...marked,
    ...(!mayRun && { ring: `has queue ${id}, which may not run` }),
    ...(bandOf(score) !== teamNumber && {
      ring: `has queue ${id} at ${score}, outside the band of team number ${teamNumber}`,
    }),
    ...(!entry.isTeamKnown && { teams: `lacks team number ${teamNumber}, whose queue ${id} may run` }),
  }
}

async function readEntry({ engine, keys }: InspectedShard, id: string): Promise<RingEntry> {
  const reply = await engine.runner.run(READ_RING.with({ keys, localId: id }))
  const [score, active, max, teamNumber, ready, inFlight, known, marked] = reply as [
    score: string,
    active: string,
    max: string,
    teamNumber: string,
    ready: number,
    inFlight: number,
    known: number,
    marked: number,
  ]
  return {
    score: numberOrNone(score),
    isActive: active === '1',
    isThrottled: active === THROTTLED,
    isMarked: marked === 1,
    max: numberOrNone(max),
    teamNumber,
    ready,
    inFlight,
    isTeamKnown: known === 1,
  }
}

function numberOrNone(text: string | undefined): number | undefined {
  return text === undefined || text === '' ? undefined : Number(text)
}
