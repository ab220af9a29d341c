import {
  CLAIM_BATCH_MAX,
  FAIR_QUANTUM,
  HARD_DEADLINE_GRACE_MS,
  HEADROOM_ENTRIES_MAX,
  LEASE_MS,
} from '../../../../domain/limits.ts'
import type { ClaimAnswer, ClaimGrant } from '../../../../ports/jobs.ts'
import type { Engine } from '../../../base/engine/engine.ts'
import { step } from '../../../base/engine/step.ts'
import type { ShardKeys } from '../../../base/layout/keys.ts'
import { bandOf } from '../../../base/layout/ring-bands.ts'
import type { AskedQueues, HeldQueues } from './held-queues.ts'
import type { SettingsCache } from './settings-cache.ts'
import { RESEND_MS, type ClaimCounters } from './claim-counters.ts'
import { readClaim, type ClaimReply, type SentClaim } from './claim-reply.ts'

export const CLAIM = step('claim', import.meta.url, {
  keys: [
    'clock',
    'executors',
    'heldJobs',
    'ring',
    'fencingToken',
    'settings',
    'nearSet',
    'teamUsage',
    'teams',
    'teamNumbers',
  ],
  args: [
    'leaseMs',
    'executor',
    'requestId',
    'jobsMax',
    'bytesMax',
    'quantum',
    'graceMs',
    'leadMs',
    'knownToken',
    'rotation',
    'queuesToName',
    'shards',
    'otherTeamsHeadroom',
    'otherQueuesHeadroom',
  ],
  rows: {
    teamHeadroom: { args: ['team', 'headroom'] },
    queueHeadroom: { args: ['localId', 'headroom'] },
    heldTeams: { args: ['number', 'callbackQueue'] },
    heldQueues: { args: ['number', 'localId'] },
    askedTeams: { args: ['number', 'queueCount'] },
    queues: { queueKeys: ['meta', 'ready', 'records', 'inFlight', 'payloads'], args: ['localId'] },
  },
})

interface SentReadyClaim extends SentClaim {
  /** true = it told the step of teams or queues that are held. */
  readonly listsHeld: boolean
}

export const NOTHING_RUNS: Extract<ClaimAnswer, { status: 'claimed' }> = {
  status: 'claimed',
  work: [],
  runnable: 0,
  nextDueMs: null,
  crowdedTeams: [],
  bytesWanted: null,
}
const HELD: ClaimAnswer = { status: 'held' }

/**
 * Claims ready jobs of one shard for one executor. Owns the queues to ask next and the claim that has no answer yet,
 * which is sent again unchanged, whatever grant the next call brings.
 */
export class ReadyClaims {
  readonly #engine: Engine
  readonly #keys: ShardKeys
  readonly #counters: ClaimCounters
  readonly #settings: SettingsCache
  readonly #held: HeldQueues
  /**
   * Whom the next claim asks: the number of a team, how many of its queues follow, their local ids, and so on. The last
   * claim has named them, or they were read from the ring, or just woken.
   */
  #candidates: ReadonlyArray<string | number> = []
  #open: SentReadyClaim | null = null

  constructor(
    engine: Engine,
    keys: ShardKeys,
    { counters, settings, held }: { counters: ClaimCounters; settings: SettingsCache; held: HeldQueues },
  ) {
    this.#engine = engine
    this.#keys = keys
    this.#counters = counters
    this.#settings = settings
    this.#held = held
  }

  /** true = a claim was sent and is not answered yet. */
  get isOpen(): boolean {
    return this.#open !== null
  }

  async claim(grant: ClaimGrant): Promise<ClaimAnswer> {
    const isGuess = this.#open === null && this.#candidates.length === 0 && this.#guess()
    if (this.#open === null && this.#candidates.length === 0) {
      const seen = await this.#peekRing()
      if (seen !== 'too_many') {
        if (seen.length === 0) return NOTHING_RUNS
        this.#candidates = seen
      }
    }
    const first = await this.#send(grant)
    // A claim that asks no queue only learns which ones to ask, and so does one that asks queues which are empty by now.
    const hasAsked = first.asksAny && !(isGuess && isEmpty(first.answer))
    const isEnough = hasAsked || this.#candidates.length === 0
    return isEnough ? first.answer : (await this.#send(grant)).answer
  }

  /**
   * Asks those next that were just woken, if any. It does not while anything is held, because for held queues alone no
   * claim would be sent, whatever else can run.
   */
  #guess(): boolean {
    const { wokenQueues, runner } = this.#engine
    const { shard } = this.#keys
    const woken = wokenQueues.take(shard, runner.redisNowMs(shard))
    if (!this.#held.isEmpty || woken.length === 0) return false
    this.#candidates = woken
    return true
  }

  async #send(grant: ClaimGrant): Promise<{ readonly answer: ClaimAnswer; readonly asksAny: boolean }> {
    const { runner } = this.#engine
    this.#open ??= await this.#newClaim(grant)
    if (this.#open === null) {
      this.#candidates = []
      return { answer: HELD, asksAny: true }
    }
    const { call, queues, listsHeld } = this.#open
    const reply = (await runner.run(call, RESEND_MS)) as ClaimReply
    this.#open = null
    const asksAny = queues.length > 0
    if (reply[0] === 'lost') return { answer: { status: 'lease_lost' }, asksAny }
    const [, now, token, nextDue, ringSize, candidates, , , , crowdedTeams, bytesWanted] = reply
    runner.noteRedisTime(this.#keys.shard, Number(now))
    this.#counters.noteToken(token)
    const work = readClaim(this.#engine, this.#keys, { settings: this.#settings, reply, queues })
    this.#candidates = candidates
    if (listsHeld && work.length === 0 && candidates.length === 0 && ringSize > 0)
      return { answer: HELD, asksAny }
    const answer: ClaimAnswer = {
      status: 'claimed',
      work,
      runnable: ringSize,
      nextDueMs: nextDue === '' ? null : Number(nextDue),
      crowdedTeams,
      bytesWanted: bytesWanted === '' ? null : Number(bytesWanted),
      redisMs: Number(now),
    }
    return { answer, asksAny }
  }

  /** null = all queues that it could ask are held. */
  async #newClaim(grant: ClaimGrant): Promise<SentReadyClaim | null> {
    const candidates = parseCandidates(this.#candidates)
    if (this.#held.isEmpty) return this.#claimOf(grant, candidates)
    const { learnt, ...asked } = await this.#held.without(candidates)
    const isAllHeld = asked.queues.length === 0 && candidates.queues.length > 0
    return isAllHeld && !learnt ? null : this.#claimOf(grant, asked)
  }

  #claimOf(grant: ClaimGrant, { askedTeams, queues }: AskedQueues): SentReadyClaim {
    if (Math.max(grant.teamHeadroom.size, grant.queueHeadroom.size) > HEADROOM_ENTRIES_MAX) {
      throw new Error(
        `a claim names at most ${HEADROOM_ENTRIES_MAX} teams and as many queues with their headroom`,
      )
    }
    const { heldTeams, heldQueues } = this.#held.listed()
    const call = CLAIM.with({
      keys: this.#keys,
      leaseMs: LEASE_MS,
      ...this.#counters.next(this.#keys),
      jobsMax: Math.min(grant.slots, CLAIM_BATCH_MAX),
      bytesMax: grant.bytes,
      quantum: FAIR_QUANTUM,
      graceMs: HARD_DEADLINE_GRACE_MS,
      leadMs: grant.leadMs ?? 0,
      queuesToName: CLAIM_BATCH_MAX,
      shards: this.#engine.shards.length,
      otherTeamsHeadroom: grant.otherTeamsHeadroom,
      otherQueuesHeadroom: grant.otherQueuesHeadroom,
      teamHeadroom: Array.from(grant.teamHeadroom, ([team, headroom]) => ({ team, headroom })),
      queueHeadroom: Array.from(grant.queueHeadroom, ([localId, headroom]) => ({ localId, headroom })),
      heldTeams,
      heldQueues,
      askedTeams,
      queues,
    })
    return { call, queues, listsHeld: heldTeams.length + heldQueues.length > 0 }
  }

  /**
   * Answers which queues to ask when no claim has said that yet: all that can run, in the order of their teams. A claim
   * that asks no queue answers it too, at ten times the cost, and is needed only where more can run than one claim
   * asks.
   */
  async #peekRing(): Promise<ReadonlyArray<string | number> | 'too_many'> {
    const { ring, teams } = this.#keys
    const last = String(CLAIM_BATCH_MAX - 1)
    const [scored, order] = await this.#engine.runner.read((redis) =>
      Promise.all([redis.zrange(ring, '0', last, 'WITHSCORES'), redis.zrange(teams, '0', last)]),
    )
    if (scored.length === 2 * CLAIM_BATCH_MAX) return 'too_many'
    const bands = new Map<string, string[]>(order.map((team) => [team, []]))
    for (let at = 0; at < scored.length; at += 2) {
      const team = bandOf(Number(scored[at + 1]))
      const queues = bands.get(team) ?? []
      queues.push(scored[at] as string)
      bands.set(team, queues)
    }
    return [...bands].flatMap(([team, queues]) =>
      queues.length === 0 ? [] : [team, queues.length, ...queues],
    )
  }
}

function isEmpty(answer: ClaimAnswer): boolean {
  return answer.status === 'claimed' && answer.work.length === 0
}

/** Reads the teams and queues that a claim asks from a flat list of number, count and that many local ids. */
export function parseCandidates(candidates: ReadonlyArray<string | number>): AskedQueues {
  const askedTeams: Array<{ number: string | number; queueCount: string | number }> = []
  const queues: string[] = []
  for (let at = 0; at < candidates.length;) {
    const [number = '', queueCount = 0] = [candidates[at], candidates[at + 1]]
    askedTeams.push({ number, queueCount })
    const end = at + 2 + Number(queueCount)
    for (at += 2; at < end; at += 1) queues.push(String(candidates[at]))
  }
  return { askedTeams, queues }
}
