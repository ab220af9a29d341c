import { CLAIM_BATCH_MAX, HARD_DEADLINE_GRACE_MS, LEASE_MS } from '../../../domain/limits.ts'
import type { ClaimGrant } from '../../../ports/jobs.ts'
import type { ClaimReply } from './claim-reply.ts'
import type { Engine } from '../../client/engine.ts'
import { splitNameField, type ShardKeys } from '../../layout/keys.ts'
import type { Argument } from '../../client/step.ts'
import type { SuspectRoom } from './suspect-company.ts'

/** What the `claim_suspects` step answers: like `claim`, with the suspects that still wait in place of the ring's size. */
export type SuspectReply = [...claim: ClaimReply, losses: string, team: string]

export interface SentSuspects {
  readonly keys: string[]
  readonly args: Argument[]
  /** Local ids, as the answer counts them. */
  readonly queues: readonly string[]
}

export interface SuspectClaim {
  readonly executor: string
  readonly requestId: string
  readonly highestToken: string
  readonly grant: ClaimGrant
  readonly room: SuspectRoom
}

/** Suspects that one look goes through, lest those of a team without room hide all others. */
const LOOKED_MAX = 512

/** The step that claims the suspects that have waited longest, of teams and queues with room. null when there are none. */
export async function newSuspectClaim(
  engine: Engine,
  keys: ShardKeys,
  { executor, requestId, highestToken, grant, room }: SuspectClaim,
): Promise<SentSuspects | null> {
  const members = await engine.runner.read((redis) =>
    redis.zrange(keys.suspects, '0', String(LOOKED_MAX - 1)),
  )
  const entries = members.map((member) => member.split('|') as [queue: string, id: string])
  const queues = [...new Set(entries.map(([queue]) => queue))]
  const names = await engine.runner.read((redis) =>
    Promise.all(queues.map((queue) => redis.hget(keys.queue(queue).meta, 'n'))),
  )
  const roomOf = new Map(queues.map((queue, i) => [queue, roomIn(grant, queue, names[i] ?? null)]))
  const chosen = entries
    .filter(([queue]) => {
      const left = roomOf.get(queue) ?? 0
      roomOf.set(queue, left - 1)
      return left > 0
    })
    .slice(0, CLAIM_BATCH_MAX)
  if (chosen.length === 0) return null
  const asked = [...new Set(chosen.map(([queue]) => queue))]
  const { clock: clk, executors: ex, suspects: sus, fencingToken: tok, settings: set } = keys
  return {
    queues: asked,
    keys: [
      ...[clk, ex, keys.heldJobs(executor), sus, tok, set],
      ...asked.flatMap((id) => {
        const { meta: q, records: b, inFlight: a, payloads: p } = keys.queue(id)
        return [q, b, a, p]
      }),
    ],
    args: [
      ...[LEASE_MS, executor, requestId, Math.min(grant.slots, room.most, CLAIM_BATCH_MAX), grant.bytes],
      ...[HARD_DEADLINE_GRACE_MS, highestToken, engine.shards.length],
      ...[room.kin?.losses ?? '', room.kin?.team ?? '', room.few, asked.length, ...asked],
      ...[chosen.length, ...chosen.flatMap(([queue, id]) => [asked.indexOf(queue) + 1, id])],
    ],
  }
}

/** A team's queues share its room only roughly here: suspects are few. A queue that is gone has room, to be dropped. */
function roomIn(grant: ClaimGrant, queue: string, name: string | null): number {
  if (name === null) return CLAIM_BATCH_MAX
  const { team } = splitNameField(name)
  const ofTeam = grant.teamHeadroom.get(team) ?? grant.otherTeamsHeadroom
  return Math.min(ofTeam, grant.queueHeadroom.get(queue) ?? grant.otherQueuesHeadroom)
}
