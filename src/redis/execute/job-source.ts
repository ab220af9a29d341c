import {
  CLAIM_BATCH_MAX,
  FAIR_QUANTUM,
  HARD_DEADLINE_GRACE_MS,
  LEASE_MS,
  LOST_LEASES_MAX,
  REAP_BATCH_MAX,
  HEADROOM_ENTRIES_MAX,
} from '../../domain/limits.ts'
import type { ClaimAnswer, ClaimedWork, ClaimGrant, JobSource, WorkEnd } from '../../ports/jobs.ts'
import { batchValues, FINISH, REAP, type BatchJob } from './finish/batch.ts'
import { queuesOf, readClaim, type ClaimReply } from './claim/claim-reply.ts'
import { tellSetAside } from '../chains/damaged-chain.ts'
import { hintWake, shardKeys, type Engine } from '../client/engine.ts'
import { heldEntries } from './held-entries.ts'
import type { ShardKeys } from '../layout/keys.ts'
import { bandOf } from '../layout/ring-bands.ts'
import { createSettingsCache } from './settings-cache.ts'
import { step, type Argument, type StepCall } from '../client/step.ts'
import { newSuspectClaim, type SentSuspects, type SuspectReply } from './claim/suspect-claim.ts'
import { SuspectCompany } from './claim/suspect-company.ts'
import { createTrimmer, type Trimmer } from '../retention/trimmer.ts'
import { blankBatchJob, toBatchJob } from './finish/work-end.ts'

export const BEAT = step('beat', import.meta.url, {
  keys: ['clock', 'executors', 'heldJobs'],
  args: ['leaseMs', 'executor', 'register'],
})

interface SentStep {
  readonly keys: string[]
  readonly args: Argument[]
}

interface SentClaim extends SentStep {
  /** Local ids of the queues it asks, in the order the answer counts them. */
  readonly queues: readonly string[]
}

type FinishReply = [now: string, woken: number, dropped: number, codes: string, toTrim: string[]]

interface JobSourceParts {
  readonly engine: Engine
  readonly shard: number
  readonly executor: string
  readonly company: SuspectCompany
}

interface SentFinish {
  readonly ends: readonly WorkEnd[]
  readonly call: StepCall
}

/** How long one call of `claim` or `finish` goes on resending; the caller then calls again. */
const RESEND_MS = 2_000
/** A finish whose teams have other numbers by now is written anew this often. */
const FINISH_TRIES_MAX = 4

const NOTHING_RUNS: ClaimAnswer = {
  status: 'claimed',
  work: [],
  runnable: 0,
  nextDueMs: null,
  throttledTeams: [],
  bytesWanted: null,
}

/** Suspects are looked for this often where none waited; a claim waits for the look. */
const SUSPECTS_LOOK_MS = 250
const NO_KIN = { losses: 0, team: '' }

/**
 * Opens one executor's hold on one shard.
 *
 * @param company of the executor, which its sources in all shards share
 */
export function createJobSource(
  engine: Engine,
  shard: number,
  executor: string,
  company: SuspectCompany = new SuspectCompany(CLAIM_BATCH_MAX),
): JobSource {
  return new ResendingJobSource({ engine, shard, executor, company })
}

/**
 * One executor's hold on one shard. Owns: the queues to ask next, the numbers that make a claim and a finish known to
 * Redis as one step however often it is sent, and the claim and the finish without an answer. Those are sent again as
 * they were, whatever is asked next.
 */
class ResendingJobSource implements JobSource {
  readonly shard: number
  readonly #engine: Engine
  readonly #keys: ShardKeys
  readonly #executor: string
  readonly #company: SuspectCompany
  readonly #trimmer: Trimmer
  readonly #settings = createSettingsCache()
  /** As the last claim named them. */
  #candidates: ReadonlyArray<string | number> = []
  #claims = 0
  #finishes = 0
  #highestToken = '0'
  #openClaim: SentClaim | null = null
  #openSuspects: SentSuspects | null = null
  /** Suspects that waited when they were last looked for. */
  #suspects = 0
  #suspectsLookedMs = Number.NEGATIVE_INFINITY
  #openFinish: SentFinish | null = null
  /** Jumps of Redis's clock forward and back, as the last beat counted them. */
  #lastJumps: readonly [number, number] | null = null

  constructor({ engine, shard, executor, company }: JobSourceParts) {
    this.shard = shard
    this.#engine = engine
    this.#keys = shardKeys(engine, shard)
    this.#executor = executor
    this.#company = company
    this.#trimmer = createTrimmer(engine, this.#keys)
  }

  async claim(grant: ClaimGrant): Promise<ClaimAnswer> {
    const suspects = await this.#claimSuspects(grant)
    if (suspects?.status === 'lease_lost' || (suspects !== null && suspects.work.length > 0)) return suspects
    const answer = await this.#claimReady(grant)
    const wanted = suspects?.bytesWanted ?? null
    if (answer.status === 'lease_lost' || wanted === null) return answer
    return { ...answer, bytesWanted: Math.max(wanted, answer.bytesWanted ?? 0) }
  }

  async #claimReady(grant: ClaimGrant): Promise<ClaimAnswer> {
    if (this.#openClaim === null && this.#candidates.length === 0) {
      const seen = await this.#peekRing()
      if (seen !== 'too_many') {
        if (seen.length === 0) return NOTHING_RUNS
        this.#candidates = seen
      }
    }
    const asks = (this.#openClaim?.queues ?? this.#candidates).length > 0
    const answer = await this.#sendClaim(grant)
    // A claim that asks nobody only learns whom to ask.
    return asks || this.#candidates.length === 0 ? answer : this.#sendClaim(grant)
  }

  /** null when none waits, or the executor may have no more of them now. */
  async #claimSuspects(grant: ClaimGrant): Promise<ClaimAnswer | null> {
    if (this.#openClaim !== null) return null
    this.#openSuspects ??= await this.#newSuspectClaim(grant)
    if (this.#openSuspects === null) return null
    const { keys, args, queues } = this.#openSuspects
    const { runner } = this.#engine
    const reply = (await runner.run({ name: 'claim_suspects', keys, args }, RESEND_MS)) as SuspectReply
    this.#openSuspects = null
    if (reply[0] === 'lost') {
      this.#company.forget(this)
      return { status: 'lease_lost' }
    }
    const [, now, token, , waiting, , , , , , bytesWanted, losses, team] = reply
    runner.noteRedisTime(this.shard, Number(now))
    if (token !== '') this.#highestToken = token
    const work = readClaim(this.#engine, this.#keys, this.#settings, reply, queues)
    this.#company.answered(this, work.map(suspectOf), { losses: Number(losses), team })
    // With nothing to be had they are looked for again in a while.
    const wanted = bytesWanted === '' ? null : Number(bytesWanted)
    this.#suspects = work.length === 0 && wanted === null ? 0 : waiting
    return { status: 'claimed', work, runnable: 1, nextDueMs: null, throttledTeams: [], bytesWanted: wanted }
  }

  async #newSuspectClaim(grant: ClaimGrant): Promise<SentSuspects | null> {
    const nowMs = this.redisNowMs()
    if (this.#suspects === 0 && Math.abs(nowMs - this.#suspectsLookedMs) < SUSPECTS_LOOK_MS) return null
    this.#suspects = await this.#engine.runner.read((redis) => redis.zcard(this.#keys.suspects))
    this.#suspectsLookedMs = nowMs
    const room = this.#suspects === 0 ? null : this.#company.ask(this)
    if (room === null) return null
    this.#claims += 1
    const [executor, highestToken] = [this.#executor, this.#highestToken]
    const requestId = `${executor}:${this.#claims}`
    let sent: SentSuspects | null = null
    try {
      const claim = { executor, requestId, highestToken, grant, room }
      sent = await newSuspectClaim(this.#engine, this.#keys, claim)
    } finally {
      if (sent === null) this.#company.answered(this, [], NO_KIN)
    }
    return sent
  }

  async #sendClaim(grant: ClaimGrant): Promise<ClaimAnswer> {
    const { runner } = this.#engine
    if (this.#openClaim === null) {
      if (Math.max(grant.teamHeadroom.size, grant.queueHeadroom.size) > HEADROOM_ENTRIES_MAX) {
        throw new Error(`a claim can be told of ${HEADROOM_ENTRIES_MAX} teams and as many queues`)
      }
      this.#openClaim = this.#newClaim(grant)
    }
    const sent = this.#openClaim
    const { keys, args } = sent
    const reply = (await runner.run({ name: 'claim', keys, args }, RESEND_MS)) as ClaimReply
    this.#openClaim = null
    if (reply[0] === 'lost') return { status: 'lease_lost' }
    const [, now, token, nextDue, ringSize, candidates, , , , throttledTeams, bytesWanted] = reply
    runner.noteRedisTime(this.shard, Number(now))
    if (token !== '') this.#highestToken = token
    const work = readClaim(this.#engine, this.#keys, this.#settings, reply, sent.queues)
    this.#candidates = candidates
    return {
      status: 'claimed',
      work,
      runnable: ringSize,
      nextDueMs: nextDue === '' ? null : Number(nextDue),
      throttledTeams,
      bytesWanted: bytesWanted === '' ? null : Number(bytesWanted),
    }
  }

  async finish(ends: readonly WorkEnd[]): Promise<Array<'done' | 'stale'>> {
    const engine = this.#engine
    const [now, woken, dropped, codes, toTrim] = await this.#sendFinish(ends)
    engine.runner.noteRedisTime(this.shard, Number(now))
    if (dropped > 0) engine.metrics.callRecordsDropped(dropped)
    if (woken > 0) hintWake(engine, this.shard)
    for (const queue of toTrim) this.#trimmer.ask(queue)
    for (const { work } of ends) this.#company.left(this, suspectOf(work))
    ends.forEach(({ work }, i) => {
      if (codes[i] === 'a') tellSetAside(engine, this.shard, work.jobId)
    })
    return [...codes].map((code) => (code === 's' ? 'stale' : 'done'))
  }

  async #sendFinish(ends: readonly WorkEnd[]): Promise<FinishReply> {
    const { runner, teamNumbers } = this.#engine
    for (let tries = 0; tries < FINISH_TRIES_MAX; tries += 1) {
      if (this.#openFinish?.ends !== ends) this.#openFinish = await this.#newFinish(ends)
      const reply = (await runner.run(this.#openFinish.call, RESEND_MS)) as FinishReply
      this.#openFinish = null
      if (reply[3] !== '') return reply
      teamNumbers.forget()
    }
    throw new Error('the numbers of teams change faster than they can be read')
  }

  async beat(register: boolean): ReturnType<JobSource['beat']> {
    const reply = await this.#engine.runner.run(
      BEAT.with({
        keys: this.#keys,
        heldJobs: this.#keys.heldJobs(this.#executor),
        ...{ leaseMs: LEASE_MS, executor: this.#executor, register: register ? 1 : 0 },
      }),
    )
    const [status, now, held, forward, back] = reply as [string, string, number, number, number]
    this.#engine.runner.noteRedisTime(this.shard, Number(now))
    if (status === 'lost') return { status: 'lease_lost' }
    this.#noteJumps(forward, back)
    return { status: 'ok', held }
  }

  releaseUnknown(known: ReadonlySet<number>): Promise<number> {
    return this.#giveBack('unknown', known)
  }

  async leave(): Promise<void> {
    try {
      await this.#giveBack('leave', new Set())
    } finally {
      this.#company.forget(this)
    }
  }

  redisNowMs(): number {
    return this.#engine.runner.redisNowMs(this.shard)
  }

  /**
   * Whom to ask when no claim has said it: all that can run, in the order of their teams. A claim that asks nobody says
   * it too, at ten times the cost, and is needed only where there are too many for one claim.
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

  #newClaim(grant: ClaimGrant): SentClaim {
    this.#claims += 1
    const [claims, candidates, executor] = [this.#claims, this.#candidates, this.#executor]
    const { clock, executors, ring, fencingToken, settings, nearSet, teamUsage, teams, teamNumbers } =
      this.#keys
    const queues = queuesOf(candidates)
    return {
      queues,
      keys: [
        ...[clock, executors, this.#keys.heldJobs(executor), ring, fencingToken, settings, nearSet],
        ...[teamUsage, teams, teamNumbers],
        ...queues.flatMap((id) => {
          const { meta: q, ready: r, records: b, inFlight: a, payloads: p } = this.#keys.queue(id)
          return [q, r, b, a, p]
        }),
      ],
      args: [
        ...[LEASE_MS, executor, `${executor}:${claims}`, Math.min(grant.slots, CLAIM_BATCH_MAX)],
        ...[grant.bytes, FAIR_QUANTUM, HARD_DEADLINE_GRACE_MS, this.#highestToken],
        ...[claims, CLAIM_BATCH_MAX, this.#engine.shards.length],
        ...[grant.otherTeamsHeadroom, grant.otherQueuesHeadroom],
        ...[grant.teamHeadroom.size, ...[...grant.teamHeadroom].flat()],
        ...[grant.queueHeadroom.size, ...[...grant.queueHeadroom].flat()],
        ...[teamsIn(candidates), ...candidates],
      ],
    }
  }

  async #newFinish(ends: readonly WorkEnd[]): Promise<SentFinish> {
    const engine = this.#engine
    this.#finishes += 1
    const finishId = `${this.#executor}:${this.#finishes}`
    const jobs = ends.map((end) => toBatchJob(end, engine.jobIds))
    const values = await batchValues(engine, this.#keys, { executor: this.#executor, jobs })
    return { ends, call: FINISH.with({ ...values, finishId }) }
  }

  #noteJumps(forward: number, back: number): void {
    const last = this.#lastJumps
    this.#lastJumps = [forward, back]
    if (last === null || (forward <= last[0] && back <= last[1])) return
    const { metrics, logger } = this.#engine
    const direction = forward > last[0] ? 'forward' : 'backward'
    metrics.clockJumped(direction)
    logger.warn('The clock of Redis jumped; leases were stamped anew', { shard: this.shard, direction })
  }

  /** At least one step goes out, for the one that leaves ends the lease. Answers how many jobs were given back. */
  async #giveBack(mode: 'unknown' | 'leave', known: ReadonlySet<number>): Promise<number> {
    const engine = this.#engine
    const unknown = await this.#unknownJobs(mode, known)
    let count = 0
    do {
      const page = unknown.slice(count, count + REAP_BATCH_MAX)
      const values = await batchValues(engine, this.#keys, { executor: this.#executor, jobs: page })
      const call = REAP.with({
        ...values,
        ...{ executor: this.#executor, mode, marginMs: 0, lossesMax: LOST_LEASES_MAX },
        trimAbove: Number.MAX_SAFE_INTEGER,
      })
      await engine.runner.run(call, RESEND_MS)
      count += page.length
    } while (count < unknown.length)
    if (count > 0) hintWake(engine, this.shard)
    return count
  }

  async #unknownJobs(mode: 'unknown' | 'leave', known: ReadonlySet<number>): Promise<BatchJob[]> {
    const { runner, jobIds } = this.#engine
    const isClaiming = this.#openClaim !== null
    const held = await runner.read((redis) => redis.hgetall(this.#keys.heldJobs(this.#executor)))
    const entries = await heldEntries(this.#engine, this.#keys, Object.entries(held).flat())
    return (
      entries
        .filter(({ id }) => !known.has(Number(id)))
        .map(({ id, queue, token }) =>
          blankBatchJob(Number(id), token, { queue, settingsHash: '', isLarge: false }, jobIds),
        )
        // While a claim is under way a token above the last one received belongs to it, and its answer is still to come.
        // While none is, it belongs to one that Redis got a second time, long after its answer.
        .filter((job) => mode === 'leave' || !isClaiming || !(Number(job.token) > Number(this.#highestToken)))
    )
  }
}

function teamsIn(candidates: ReadonlyArray<string | number>): number {
  let teams = 0
  for (let at = 0; at < candidates.length; at += 2 + Number(candidates[at + 1])) teams += 1
  return teams
}

/** A callback has the id of the job that it reports. */
function suspectOf({ location, jobId }: ClaimedWork): string {
  return `${location.queue}|${jobId}`
}
