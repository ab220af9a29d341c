import { loopsOf } from '../../support/loops.ts'
import { teamsOf } from '../../support/no-own-secrets.ts'
import { JobIds } from '../../../src/domain/jobs/job-ids.ts'
import { StoreUnavailableError } from '../../../src/domain/errors.ts'
import { Executor, type ExecutorCapacity } from '../../../src/executor/executor.ts'
import type { Clock } from '../../../src/ports/runtime.ts'
import type { HttpCaller } from '../../../src/ports/http-caller.ts'
import type { ClaimAnswer, ClaimedJob, ClaimGrant, JobSource } from '../../../src/ports/jobs.ts'
import { NO_TEAM_SETTINGS } from '../../../src/ports/settings.ts'
import { capacityOf } from '../../support/engine/capacity.ts'
import { quietLogger, quietMetrics } from '../../support/quiet.ts'
import {
  answered,
  claimedJob,
  createFakeCrons,
  createFakeMaintenance,
  cutCall,
} from '../../unit/executor/executor-fixture.ts'
import { Scheduler } from '../story/scheduler.ts'
import { SeededRandom } from '../story/seeded-random.ts'

/** Ready jobs of one queue. */
export interface Backlog {
  readonly team: string
  readonly queue: string
  count: number
  readonly callMs: () => number
  readonly bytes?: number
}

export interface ShareWorldOptions {
  readonly shards: number
  readonly concurrency: number
  readonly capacity?: Partial<ExecutorCapacity>
  readonly seed?: number
}

const EPOCH_MS = 1_800_000_000_000
const COMMAND_TIMEOUT_MS = 2_000
const LOOK_MS = 1_000_000_000

/** The product's executor in virtual time, over shards that only count jobs by queue and share them out as `claim` does. */
export class ShareWorld {
  readonly scheduler = new Scheduler()
  readonly executor: Executor
  readonly shards: ShareShard[]
  readonly random: SeededRandom
  leasesLost = 0
  /** Calls that were aborted. */
  readonly cut: ClaimedJob[] = []
  open = 0
  mostOpen = 0
  openBytes = 0
  mostOpenBytes = 0
  readonly clock: Clock
  /** Hints of new jobs are lost. */
  areHintsLost = false
  readonly #backlogs = new Map<number, Backlog>()
  #jobs = 0
  #hint: (shard: number) => void = () => undefined
  #busy = (): number => 0

  constructor(options: ShareWorldOptions) {
    const { scheduler } = this
    this.random = new SeededRandom(options.seed ?? 1)
    this.clock = {
      monotonicMs: () => scheduler.nowMs,
      wallMs: () => EPOCH_MS + scheduler.nowMs,
      after: (delayMs, run) => {
        let isCancelled = false
        scheduler.after(delayMs, () => {
          if (!isCancelled) run()
        })
        return () => (isCancelled = true)
      },
      nextTurn: (run) => scheduler.after(0, run),
    }
    this.shards = Array.from({ length: options.shards }, (_, shard) => new ShareShard(this, shard))
    this.executor = new Executor({
      shards: this.shards.map((shard) => ({
        shard: shard.shard,
        openSource: () => shard.openSource(),
        // No peeks, reaps or crons: only hints and probes lead to claims.
        maintenance: { ...createFakeMaintenance(shard.shard), reap: () => new Promise(() => undefined) },
        crons: { ...createFakeCrons(shard.shard), nextDueMs: () => Promise.resolve(EPOCH_MS + LOOK_MS) },
      })),
      hints: {
        onWake: (listener) => {
          this.#hint = listener
          return () => (this.#hint = () => undefined)
        },
      },
      caller: { call: (...args) => this.#call(...args), close: () => Promise.resolve() },
      teams: teamsOf(() => NO_TEAM_SETTINGS),
      jobIds: new JobIds(64, '0123456789ab'),
      clock: this.clock,
      logger: quietLogger,
      metrics: {
        ...quietMetrics,
        leaseLost: () => (this.leasesLost += 1),
        callSlots: (_slots, read) => (this.#busy = read),
      },
      loops: loopsOf({ clock: this.clock, logger: quietLogger }),
      capacity: capacityOf(options.concurrency, options.capacity),
      newExecutorId: () => 'executor',
      random: () => this.random.next(),
      redisNowMs: () => this.clock.wallMs(),
    })
  }

  get busy(): number {
    return this.#busy()
  }

  get starts(): number {
    return this.shards.reduce((sum, { starts }) => sum + starts, 0)
  }

  /** Adds ready jobs, as a push does. */
  push(shard: number, backlog: Backlog): void {
    this.shards[shard]?.backlogs.push(backlog)
    if (!this.areHintsLost) this.scheduler.after(0.1, () => this.#hint(shard))
  }

  /** A job of a backlog, claimed now. */
  takeJob(shard: number, backlog: Backlog): ClaimedJob {
    this.#jobs += 1
    const jobId = this.#jobs * 1024 + shard
    this.#backlogs.set(jobId, backlog)
    backlog.count -= 1
    return claimedJob({
      jobId,
      shard,
      team: backlog.team,
      bytes: backlog.bytes ?? 1_000,
      location: { queue: backlog.queue, settingsHash: 'abcdefghijk', isLarge: false },
      scheduledAtMs: this.clock.wallMs(),
      startedAtMs: this.clock.wallMs(),
    })
  }

  readonly #call: HttpCaller['call'] = ({ identity }, signal) => {
    const jobId = Number(identity['Job-Id'])
    const backlog = this.#backlogs.get(jobId) as Backlog
    const shard = this.shards[jobId % 1024] as ShareShard
    this.#backlogs.delete(jobId)
    shard.noteStart(backlog.queue)
    this.open += 1
    this.mostOpen = Math.max(this.mostOpen, this.open)
    this.openBytes += backlog.bytes ?? 1_000
    this.mostOpenBytes = Math.max(this.mostOpenBytes, this.openBytes)
    return new Promise((resolve) => {
      let hasEnded = false
      const end = (result: Awaited<ReturnType<HttpCaller['call']>>) => {
        if (hasEnded) return
        hasEnded = true
        this.open -= 1
        this.openBytes -= backlog.bytes ?? 1_000
        resolve(result)
      }
      signal.addEventListener('abort', () => {
        if (!hasEnded) this.cut.push(claimedJob({ jobId }))
        end(cutCall('aborted'))
      })
      this.scheduler.after(backlog.callMs(), () => end(answered()))
    })
  }

  async start(): Promise<void> {
    this.executor.start()
    await this.run(20)
  }

  run(ms: number): Promise<void> {
    return this.scheduler.runUntil(this.scheduler.nowMs + ms)
  }
}

/** One shard: its ready jobs, and whether it answers. */
export class ShareShard {
  readonly shard: number
  readonly backlogs: Backlog[] = []
  starts = 0
  claims = 0
  emptyClaims = 0
  /** When the first job of each queue started. */
  readonly firstStartMs = new Map<string, number>()
  readonly lastStartMs = new Map<string, number>()
  readonly startsOf = new Map<string, number>()
  readonly #world: ShareWorld
  readonly #served = new Map<string, number>()
  #silentUntilMs = 0

  constructor(world: ShareWorld, shard: number) {
    this.#world = world
    this.shard = shard
  }

  /** Does not reply for this long; messages sent meanwhile are lost. */
  silence(ms: number): void {
    this.#silentUntilMs = this.#world.scheduler.nowMs + ms
  }

  noteStart(queue: string): void {
    const { nowMs } = this.#world.scheduler
    this.starts += 1
    this.startsOf.set(queue, (this.startsOf.get(queue) ?? 0) + 1)
    if (!this.firstStartMs.has(queue)) this.firstStartMs.set(queue, nowMs)
    this.lastStartMs.set(queue, nowMs)
  }

  openSource(): JobSource {
    let answer: ClaimAnswer | null = null
    return {
      shard: this.shard,
      beat: () => this.#answer(() => ({ status: 'ok' as const, listed: 0, redisMs: 0 })),
      claim: async (grant) => {
        // A resent finish is applied once.
        const claimed = await this.#answer(() => (answer ??= this.#claim(grant)))
        answer = null
        return claimed
      },
      finish: (ends) => this.#answer(() => ends.map(() => 'done' as const)),
      releaseUnknown: () => this.#answer(() => 0),
      leave: () => this.#answer(() => undefined),
      redisNowMs: () => this.#world.clock.wallMs(),
    }
  }

  #answer<T>(run: () => T): Promise<T> {
    const { scheduler, random } = this.#world
    return new Promise((resolve, reject) => {
      if (scheduler.nowMs < this.#silentUntilMs) {
        scheduler.after(COMMAND_TIMEOUT_MS, () => reject(new StoreUnavailableError('it did not answer')))
        return
      }
      scheduler.after(random.between(0.36, 0.44), () => {
        const done = run()
        scheduler.after(random.between(0.54, 0.66), () => resolve(done))
      })
    })
  }

  /** Gives each job to the team, and within it to the queue, that was served least. */
  #claim(grant: ClaimGrant): ClaimAnswer {
    const teamHeadroom = new Map<string, number>()
    const queueHeadroom = new Map<string, number>()
    const roomOf = ({ team, queue }: Backlog) => {
      const ofTeam = teamHeadroom.get(team) ?? grant.teamHeadroom.get(team) ?? grant.otherTeamsHeadroom
      const ofQueue = queueHeadroom.get(queue) ?? grant.queueHeadroom.get(queue) ?? grant.otherQueuesHeadroom
      return { ofTeam, ofQueue }
    }
    const work: ClaimedJob[] = []
    const crowdedTeams = new Set<string>()
    let [bytes, bytesWanted] = [0, 0]
    const tooLarge = new Set<Backlog>()
    while (work.length < grant.slots) {
      let next: Backlog | null = null
      for (const backlog of this.backlogs) {
        if (backlog.count === 0 || tooLarge.has(backlog)) continue
        const { ofTeam, ofQueue } = roomOf(backlog)
        if (ofTeam <= 0 || ofQueue <= 0) crowdedTeams.add(backlog.team)
        else if (next === null || this.#servedOf(backlog) < this.#servedOf(next)) next = backlog
      }
      if (next === null) break
      const size = next.bytes ?? 1_000
      if (bytes + size > grant.bytes) {
        bytesWanted = Math.max(bytesWanted, size)
        tooLarge.add(next)
        continue
      }
      const { ofTeam, ofQueue } = roomOf(next)
      teamHeadroom.set(next.team, ofTeam - 1)
      queueHeadroom.set(next.queue, ofQueue - 1)
      bytes += size
      for (const key of [next.team, `${next.team}/${next.queue}`])
        this.#served.set(key, (this.#served.get(key) ?? 0) + 1)
      work.push(this.#world.takeJob(this.shard, next))
    }
    this.claims += 1
    if (work.length === 0) this.emptyClaims += 1
    return {
      status: 'claimed',
      work,
      nextDueMs: null,
      crowdedTeams: [...crowdedTeams].slice(0, 16),
      runnable: this.backlogs.filter(({ count }) => count > 0).length,
      bytesWanted: bytesWanted === 0 ? null : bytesWanted,
    }
  }

  /** Teams first. */
  #servedOf({ team, queue }: Backlog): number {
    return (this.#served.get(team) ?? 0) * 1e6 + (this.#served.get(`${team}/${queue}`) ?? 0)
  }
}
