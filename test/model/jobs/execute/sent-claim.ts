import assert from 'node:assert/strict'
import { CLAIM } from '../../../../src/redis/jobs/execute/claim/ready-claims.ts'
import { CLAIM_SUSPECTS } from '../../../../src/redis/jobs/execute/claim/suspect-claims.ts'
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

const KEYS_A_QUEUE = 5

export function readSentClaim(step: SentStep): SentClaim {
  return step.name === 'claim' ? readClaim(step) : readSuspectClaim(step)
}

/** Rooms are looked at before it is sent. */
function readSuspectClaim({ args }: SentStep): SentClaim {
  const names = CLAIM_SUSPECTS.shape.args
  const asked = names.length + 1
  return {
    ...grantIn(names, args),
    roomOfTeam: () => Infinity,
    roomOfQueue: () => Infinity,
    asked: args.slice(asked, asked + Number(args[names.length])).map(String),
  }
}

function readClaim({ keys, args }: SentStep): SentClaim {
  const { keys: keyNames, args: names } = CLAIM.shape
  const asked = keys.slice(keyNames.length).filter((_, at) => at % KEYS_A_QUEUE === 0)
  const otherTeams = Number(named(names, args, 'otherTeamsHeadroom'))
  const otherQueues = Number(named(names, args, 'otherQueuesHeadroom'))
  let at = names.length
  const next = () => args[at++]
  const rooms = () =>
    new Map(Array.from({ length: Number(next()) }, (): [string, number] => [String(next()), Number(next())]))
  const [teamHeadroom, queueHeadroom] = [rooms(), rooms()]
  return {
    ...grantIn(names, args),
    roomOfTeam: (team) => teamHeadroom.get(team) ?? otherTeams,
    roomOfQueue: (id) => queueHeadroom.get(id) ?? otherQueues,
    asked: asked.map((key) => key.slice(key.lastIndexOf(':') + 1)),
  }
}

function grantIn(names: readonly string[], args: SentStep['args']) {
  return {
    requestId: String(named(names, args, 'requestId')),
    slots: Number(named(names, args, 'jobsMax')),
    bytes: Number(named(names, args, 'bytesMax')),
  }
}

function named(names: readonly string[], args: SentStep['args'], name: string) {
  return args[names.indexOf(name)] ?? assert.fail(`the step has no argument ${name}`)
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
