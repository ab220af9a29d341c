import assert from 'node:assert/strict'
import type { SentStep } from '../../../support/lua/wrapped-scripts.ts'

/** What a `claim` step said that it may take, and whom it asked: jobs/execute/claim/claim.lua names the arguments. */
interface SentClaim {
  readonly requestId: string
  readonly slots: number
  readonly bytes: number
  readonly roomOfTeam: (team: string) => number
  readonly roomOfQueue: (localId: string) => number
  /** Local ids, as the answer counts them. */
  readonly asked: readonly string[]
}

const FIXED_KEYS = 10
const KEYS_A_QUEUE = 5
const FIXED_ARGUMENTS = 11

export function readSentClaim(step: SentStep): SentClaim {
  return step.name === 'claim' ? readClaim(step) : readSuspectClaim(step)
}

/** Rooms are looked at before it is sent. */
function readSuspectClaim({ args }: SentStep): SentClaim {
  const queues = Number(args[11])
  return {
    requestId: String(args[2]),
    slots: Number(args[3]),
    bytes: Number(args[4]),
    roomOfTeam: () => Infinity,
    roomOfQueue: () => Infinity,
    asked: args.slice(12, 12 + queues).map(String),
  }
}

function readClaim({ keys, args }: SentStep): SentClaim {
  const asked = keys.slice(FIXED_KEYS).filter((_, at) => at % KEYS_A_QUEUE === 0)
  let at = FIXED_ARGUMENTS
  const next = () => args[at++]
  const [otherTeams, otherQueues] = [Number(next()), Number(next())]
  const rooms = () =>
    new Map(Array.from({ length: Number(next()) }, (): [string, number] => [String(next()), Number(next())]))
  const [teamHeadroom, queueHeadroom] = [rooms(), rooms()]
  return {
    requestId: String(args[2]),
    slots: Number(args[3]),
    bytes: Number(args[4]),
    roomOfTeam: (team) => teamHeadroom.get(team) ?? otherTeams,
    roomOfQueue: (id) => queueHeadroom.get(id) ?? otherQueues,
    asked: asked.map((key) => key.slice(key.lastIndexOf(':') + 1)),
  }
}

export function judgeRooms(
  sent: SentClaim,
  taken: ReadonlyArray<readonly [localId: string, jobId: number]>,
  teamOf: (localId: string) => string,
): void {
  for (const [id, jobs] of Map.groupBy(taken, ([queue]) => queue)) {
    assert.ok(jobs.length <= sent.roomOfQueue(id), `queue ${id} had no room for ${jobs.length}`)
  }
  for (const [team, jobs] of Map.groupBy(taken, ([queue]) => teamOf(queue))) {
    assert.ok(jobs.length <= sent.roomOfTeam(team), `team ${team} had no room for ${jobs.length}`)
  }
}
