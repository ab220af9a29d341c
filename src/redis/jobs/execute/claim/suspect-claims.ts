import { CLAIM_BATCH_MAX, HARD_DEADLINE_GRACE_MS, LEASE_MS } from '../../../../domain/limits.ts'
import type { ClaimAnswer, ClaimedWork, ClaimGrant } from '../../../../ports/jobs.ts'
import type { Engine } from '../../../base/engine/engine.ts'
import { step } from '../../../base/engine/step.ts'
import { QUEUE } from '../../../base/layout/fields.ts'
import { splitNameField, type ShardKeys } from '../../../base/layout/keys.ts'
import type { HeldQueues } from './held-queues.ts'
import type { SettingsCache } from './settings-cache.ts'
import { RESEND_MS, type ClaimCounters } from './claim-counters.ts'
import { readClaim, type ClaimReply, type SentClaim } from './claim-reply.ts'
import type { SuspectCohort, SuspectHeadroom } from './suspect-cohort.ts'

export const CLAIM_SUSPECTS = step('claim_suspects', import.meta.url, {
  keys: ['clock', 'executors', 'heldJobs', 'suspects', 'fencingToken', 'settings'],
  args: [
    'leaseMs',
    'executor',
    'requestId',
    'jobsMax',
    'bytesMax',
    'graceMs',
    'leadMs',
    'knownToken',
    'shards',
    'losses',
    'team',
    'cohortMax',
  ],
  rows: {
    queues: { queueKeys: ['meta', 'records', 'inFlight', 'payloads'], args: ['localId'] },
    suspects: { args: ['localId', 'jobId'] },
  },
})

/**
 * The answer of `claim_suspects`: like that of `claim`, with the number of waiting suspects in place of the ring's
 * size.
 */
export type SuspectReply = [...claim: ClaimReply, losses: string, team: string]

/** One claim goes through at most this many suspects, so that those of a crowded team do not hide all others. */
const LOOKED_MAX = 512

/** While none waits, suspects are sought this often, and a claim waits for the answer. */
const LOOK_EVERY_MS = 250
const NO_TRAITS = { losses: 0, team: '' }

/**
 * Claims suspects of one shard for one executor, within the cohort that its sources in all shards share. Owns the claim
 * that has no answer yet, which is sent again unchanged.
 */
export class SuspectClaims {
  readonly #engine: Engine
  readonly #keys: ShardKeys
  readonly #counters: ClaimCounters
  readonly #settings: SettingsCache
  readonly #cohort: SuspectCohort
  readonly #held: HeldQueues
  #open: SentClaim | null = null
  /** How many suspects waited when they were last counted. */
  #waiting = 0
  #lookedAtMs = Number.NEGATIVE_INFINITY
  /** How many suspects at the head of the line are passed over because all of them are held. */
  #skipped = 0

  constructor(
    engine: Engine,
    keys: ShardKeys,
    {
      counters,
      settings,
      cohort,
      held,
    }: { counters: ClaimCounters; settings: SettingsCache; cohort: SuspectCohort; held: HeldQueues },
  ) {
    this.#engine = engine
    this.#keys = keys
    this.#counters = counters
    this.#settings = settings
    this.#cohort = cohort
    this.#held = held
  }

  /** null = no suspect waits, or none may join the cohort now. */
  async claim(grant: ClaimGrant): Promise<Exclude<ClaimAnswer, { status: 'held' }> | null> {
    const { runner } = this.#engine
    this.#open ??= await this.#newClaim(grant)
    if (this.#open === null) return null
    const { call, queues } = this.#open
    const reply = (await runner.run(call, RESEND_MS)) as SuspectReply
    this.#open = null
    if (reply[0] === 'lost') {
      this.forget()
      return { status: 'lease_lost' }
    }
    const [, now, token, , waiting, , , , , , bytesWanted, , losses, team] = reply
    runner.noteRedisTime(this.#keys.shard, Number(now))
    this.#counters.noteToken(token)
    const work = readClaim(this.#engine, this.#keys, { settings: this.#settings, reply, queues })
    this.#cohort.answered(this, work.map(suspectOf), { losses: Number(losses), team })
    // When none could be claimed, the next search waits for its time.
    const wanted = bytesWanted === '' ? null : Number(bytesWanted)
    this.#waiting = work.length === 0 && wanted === null ? 0 : waiting
    return {
      status: 'claimed',
      work,
      runnable: 1,
      nextDueMs: null,
      crowdedTeams: [],
      bytesWanted: wanted,
      redisMs: Number(now),
    }
  }

  ended(work: ClaimedWork): void {
    this.#cohort.ended(this, suspectOf(work))
  }

  /** Called when the executor holds nothing here any more. */
  forget(): void {
    this.#cohort.forget(this)
  }

  async #newClaim(grant: ClaimGrant): Promise<SentClaim | null> {
    const { runner } = this.#engine
    const nowMs = runner.redisNowMs(this.#keys.shard)
    if (this.#waiting === 0 && Math.abs(nowMs - this.#lookedAtMs) < LOOK_EVERY_MS) return null
    this.#waiting = await runner.read((redis) => redis.zcard(this.#keys.suspects))
    this.#lookedAtMs = nowMs
    const headroom = this.#waiting === 0 ? null : this.#cohort.ask(this)
    if (headroom === null) return null
    let sent: SentClaim | null = null
    try {
      sent = await this.#callFor(grant, headroom)
    } finally {
      if (sent === null) this.#cohort.answered(this, [], NO_TRAITS)
    }
    return sent
  }

  /** Asks for the suspects that have waited longest, of teams and queues with headroom; null = there are none. */
  async #callFor(grant: ClaimGrant, headroom: SuspectHeadroom): Promise<SentClaim | null> {
    const suspects = await this.#eligible(grant)
    if (suspects.length === 0) {
      this.#waiting = 0
      return null
    }
    const queues = [...new Set(suspects.map(({ localId }) => localId))]
    const call = CLAIM_SUSPECTS.with({
      keys: this.#keys,
      leaseMs: LEASE_MS,
      ...this.#counters.next(this.#keys),
      jobsMax: Math.min(grant.slots, headroom.jobsMax, CLAIM_BATCH_MAX),
      bytesMax: grant.bytes,
      graceMs: HARD_DEADLINE_GRACE_MS,
      leadMs: grant.leadMs ?? 0,
      shards: this.#engine.shards.length,
      losses: headroom.traits?.losses ?? '',
      team: headroom.traits?.team ?? '',
      cohortMax: headroom.cohortMax,
      queues,
      suspects,
    })
    return { call, queues }
  }

  /**
   * Answers those of the first page of suspects that are not held. When all of a page are, the next claim goes on
   * behind it.
   */
  async #eligible(grant: ClaimGrant): Promise<Array<{ localId: string; jobId: string }>> {
    const { runner } = this.#engine
    const from = this.#skipped
    const members = await runner.read((redis) =>
      redis.zrange(this.#keys.suspects, String(from), String(from + LOOKED_MAX - 1)),
    )
    const all = members.map((member) => {
      const [localId = '', jobId = ''] = member.split('|')
      return { localId, jobId }
    })
    const held = await this.#held.among([...new Set(all.map(({ localId }) => localId))])
    const suspects = all.filter(({ localId }) => !held.has(localId))
    this.#skipped = suspects.length === 0 && members.length === LOOKED_MAX ? from + LOOKED_MAX : 0
    const queues = [...new Set(suspects.map(({ localId }) => localId))]
    const names = await runner.read((redis) =>
      Promise.all(queues.map((localId) => redis.hget(this.#keys.queueKey('meta', localId), QUEUE.name))),
    )
    const headroom = new Map(
      queues.map((localId, i) => [localId, headroomOf(grant, localId, names[i] ?? null)]),
    )
    return suspects
      .filter(({ localId }) => {
        const left = headroom.get(localId) ?? 0
        headroom.set(localId, left - 1)
        return left > 0
      })
      .slice(0, CLAIM_BATCH_MAX)
  }
}

/** A callback has the id of the job that it reports. */
function suspectOf({ location, jobId }: ClaimedWork): string {
  return `${location.queue}|${jobId}`
}

/**
 * A team's queues share its headroom only roughly, as suspects are few. Suspects of a deleted queue are dropped, and a
 * queue whose name cannot be read has the headroom of a team that is not known.
 */
function headroomOf(grant: ClaimGrant, localId: string, name: string | null): number {
  if (name === null) return CLAIM_BATCH_MAX
  const ofTeam = grant.teamHeadroom.get(teamIn(name)) ?? grant.otherTeamsHeadroom
  return Math.min(ofTeam, grant.queueHeadroom.get(localId) ?? grant.otherQueuesHeadroom)
}

function teamIn(name: string): string {
  try {
    return splitNameField(name).team
  } catch {
    return ''
  }
}
