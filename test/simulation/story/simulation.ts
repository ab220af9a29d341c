import { JobIds } from '../../../src/domain/jobs/job-ids.ts'
import type { CronSettings } from '../../../src/domain/crons/cron.ts'
import type { QueueSettings } from '../../../src/domain/jobs/queue-settings.ts'
import type { JobIntake, JobStore } from '../../../src/ports/jobs.ts'
import type { QueueStore } from '../../../src/ports/queues.ts'
import type { CronStore } from '../../../src/ports/crons.ts'
import { createCronStore } from '../../../src/redis/crons/cron-store.ts'
import { createJobIntake } from '../../../src/redis/jobs/enqueue/job-intake.ts'
import { createJobStore } from '../../../src/redis/jobs/job-store.ts'
import { createShardKeys } from '../../../src/redis/base/layout/keys.ts'
import { createQueueStore } from '../../../src/redis/jobs/queues/queue-store.ts'
import { loadScripts, type Scripts } from '../../../src/redis/steps.ts'
import { quietMetrics } from '../../support/quiet.ts'
import { BeginWatcher } from './begin-watcher.ts'
import { ClaimWatcher } from './claim-watcher.ts'
import { judgeCrons } from '../crons/cron-oracle.ts'
import { FaultLog } from './fault-log.ts'
import { Ledger } from './ledger.ts'
import { TEAM, teamOf, type Plan, type PlannedEvent } from './plan.ts'
import { Scheduler } from './scheduler.ts'
import { SeededRandom } from './seeded-random.ts'
import { NO_FAULTS } from '../redis/simulated-connection.ts'
import {
  openEngineProcess,
  SimulatedExecutor,
  type EngineProcess,
  type Surroundings,
} from './simulated-executor.ts'
import { SimulatedServer } from '../redis/simulated-server.ts'
import { SimulatedTarget, type Delivery } from './simulated-target.ts'
import { WireWatcher } from '../redis/wire-watcher.ts'
import { AN_ACTOR } from '../../support/principals.ts'

const SCRIPTS = loadScripts()
const API_COMMAND_TIMEOUT_MS = 1_500
/** By this time queues and then crons exist; faults begin later. */
const CRONS_MADE_MS = 20
const PREPARED_MS = 50
/** By this time a failed beat has been resent and answered. */
const LEARNING_MS = 8_000
/** How long everything may take to settle after the last fault. */
const SETTLE_MS_MAX = 600_000

export interface SimulationOptions {
  readonly plan: Plan
  readonly scripts?: Scripts
  readonly onTrace?: (line: string) => void
}

/** The story of one seed: API, executors, Redis, targets and their faults, in virtual time. */
export class Simulation {
  readonly plan: Plan
  readonly problems: string[] = []
  readonly scheduler = new Scheduler()
  readonly server: SimulatedServer
  readonly target: SimulatedTarget
  readonly faults: FaultLog
  readonly ledger = new Ledger()
  readonly claims: ClaimWatcher
  readonly around: Surroundings
  readonly executors: SimulatedExecutor[] = []
  /** Ticks of crons, by their records. */
  ticks = 0
  #isHealed = false
  readonly #random: SeededRandom
  #generations = 0
  readonly #onTrace: ((line: string) => void) | undefined
  readonly #api: EngineProcess
  readonly #intake: JobIntake
  readonly #queues: QueueStore
  readonly #jobs: JobStore
  readonly #crons: CronStore

  constructor({ plan, scripts = SCRIPTS, onTrace }: SimulationOptions) {
    this.plan = plan
    this.#onTrace = onTrace
    this.faults = new FaultLog(plan.network !== NO_FAULTS)
    const random = new SeededRandom(plan.seed ^ 0x5eed)
    this.#random = random.fork()
    const { scheduler } = this
    const complain = (problem: string) => this.complain(problem)
    const trace = (line: () => string) => this.trace(line)
    this.server = new SimulatedServer(scheduler, scripts, random.fork())
    this.claims = new ClaimWatcher(this.server, complain, (executor, what) => this.#judgeReap(executor, what))
    this.server.watch(this.claims)
    const wire = new WireWatcher(this.claims, this.faults, complain)
    const begins = new BeginWatcher(this.claims, this.server, complain)
    this.target = new SimulatedTarget({
      scheduler,
      trace,
      random: random.fork(),
      habits: () => (this.#isHealed ? { ...plan.habits, hanging: 0, slow: 0, localFault: 0 } : plan.habits),
      onStart: (delivery) => {
        wire.started(delivery)
        begins.begun(delivery)
        this.#called(delivery)
      },
    })
    this.around = {
      scheduler,
      scripts,
      trace,
      complain,
      random: random.fork(),
      server: this.server,
      target: this.target,
      jobIds: new JobIds(plan.shards, '0123456789ab'),
      network: () => (this.#isHealed || scheduler.nowMs < PREPARED_MS ? NO_FAULTS : plan.network),
      onBreak: (name) => this.faults.noteBreak(name, scheduler.nowMs),
      hintLoss: () => (this.#isHealed ? 0 : plan.hintLoss),
      thrower: plan.thrower,
    }
    for (let shard = 0; shard < plan.shards; shard += 1) {
      this.server.redis.run('setnx', [createShardKeys(shard).created, '1'])
    }
    const options = { commandTimeoutMs: API_COMMAND_TIMEOUT_MS, metrics: quietMetrics }
    this.#api = openEngineProcess(this.around, 'api', options)
    const { engine, process } = this.#api
    this.#intake = createJobIntake(engine, { nowMs: () => process.clock.monotonicMs() })
    this.#queues = createQueueStore(engine)
    this.#jobs = createJobStore(engine)
    this.#crons = createCronStore(engine)
  }

  complain(problem: string): void {
    this.trace(() => `PROBLEM ${problem}`)
    this.problems.push(`at ${this.scheduler.nowMs.toFixed(1)} ms: ${problem}`)
  }

  trace(line: () => string): void {
    this.#onTrace?.(`${this.scheduler.nowMs.toFixed(3).padStart(11)} ${line()}`)
  }

  /** Runs the story until everything has settled and every executor has stopped. */
  async run(): Promise<void> {
    const { plan, scheduler } = this
    scheduler.at(0, () => {
      for (const [queue, settings] of plan.queues) this.#apply(queue, settings)
    })
    scheduler.at(CRONS_MADE_MS, () => {
      for (const [name, settings] of plan.crons) this.#applyCron(name, settings)
    })
    for (let at = 0; at < plan.executors; at += 1) scheduler.at(PREPARED_MS, () => this.#startExecutor(at))
    for (const event of plan.events) scheduler.at(event.atMs, () => this.#happen(event))
    await scheduler.runUntil(plan.activeMs)
    this.#heal()
    await this.#settle()
    await this.#judgeCrons()
    for (const { name, executor, process } of this.executors) {
      if (process.isLive && !executor.isReady()) this.complain(`${name} is not ready again`)
    }
    await this.#stopAll()
  }

  /** Pauses the crons, so that the story can end. */
  async #judgeCrons(): Promise<void> {
    if (this.plan.crons.size === 0) return
    this.ticks = await judgeCrons(this)
    for (const [name, settings] of this.plan.crons) this.#applyCron(name, { ...settings, isActive: false })
    await this.#settle()
  }

  #applyCron(name: string, settings: CronSettings): void {
    this.#crons
      .apply(TEAM, name, settings)
      .catch((error: unknown) => this.complain(`cron ${name} was not applied: ${String(error)}`))
  }

  get liveExecutors(): SimulatedExecutor[] {
    return this.executors.filter(({ process }) => !process.isDead)
  }

  #startExecutor(at: number): void {
    this.#generations += 1
    const name = `e${at}-${this.#generations}`
    const started = new SimulatedExecutor(this.around, name, {
      concurrency: this.plan.concurrency,
      callBytes: this.plan.callBytes,
      keepsSuccesses: this.plan.seed % 2 === 0,
      onLeaseLost: () => this.#unlessHit(name, 'lost its lease'),
      onStale: () => this.#unlessHit(name, 'ended a job that was no longer its own'),
    })
    this.executors[at] = started
    this.trace(() => `${name} starts`)
    started.executor.start()
  }

  #called({ process, webhookId, jobId, calledAtMs }: Delivery): void {
    const executor = this.executors.find((known) => known.process === process)
    const { nowMs } = this.scheduler
    if (executor !== undefined && calledAtMs > executor.stoppedAtMs) {
      this.complain(`${executor.name} called ${jobId ?? webhookId} though it was stopping`)
    }
    if (executor === undefined || jobId === null || !this.#isPoison(jobId)) return
    this.scheduler.after(this.#random.between(0, 30), () => {
      const at = this.executors.indexOf(executor)
      if (at >= 0) this.#befall({ atMs: nowMs, what: 'kill', executor: at, restartMs: 500 })
    })
  }

  #isPoison(jobId: number): boolean {
    const { poison } = this.plan
    const result = poison === null ? undefined : this.ledger.pushes[poison]?.result
    return result?.status === 'created' && result.jobId === this.around.jobIds.rootOf(jobId)
  }

  /** Reaps that may only follow a fault. */
  #judgeReap(executorId: string, what: 'deadline' | 'unknown'): void {
    const name = executorId.slice(0, executorId.indexOf('.'))
    const { nowMs } = this.scheduler
    if (what === 'deadline') {
      if (!this.faults.mayHaveLost(name, nowMs - 60_000, nowMs))
        this.complain(`${executorId} kept a job too long`)
    } else if (this.plan.network.late === 0) this.complain(`${executorId} held a job it did not know of`)
  }

  /** Log lines that may only follow a fault of this executor. */
  #unlessHit(name: string, problem: string): void {
    const { nowMs } = this.scheduler
    if (!this.faults.mayHaveLost(name, nowMs - 20_000, nowMs)) this.complain(`${name} ${problem}`)
  }

  #happen(event: PlannedEvent): void {
    const { atMs: _, ...shown } = event
    this.trace(() => `* ${JSON.stringify(shown)}`)
    switch (event.what) {
      case 'push': {
        const { start } = event.job
        const isAbsolute = 'runAtMs' in start
        const job = isAbsolute ? { ...event.job, start: { runAtMs: this.#runAt(start.runAtMs) } } : event.job
        return this.ledger.push(job, this.scheduler, () => this.#intake.push(job))
      }
      case 'apply':
        return this.#apply(event.queue, event.change)
      case 'remove':
        return this.ledger.remove(event.queue, this.scheduler, () =>
          this.#queues.remove(teamOf(event.queue), event.queue),
        )
      case 'cancel':
        return this.ledger.cancel(event.pick, this.scheduler, (id) =>
          this.#jobs.remove(this.#teamOf(id), id, AN_ACTOR, false),
        )
      case 'replay':
        return this.ledger.replay(event.pick, this.scheduler, (id) =>
          this.#jobs.replay(this.#teamOf(id), id, AN_ACTOR),
        )
      case 'retry':
        return this.ledger.replay(event.pick, this.scheduler, (id) =>
          this.#jobs.retry(this.#teamOf(id), id, AN_ACTOR),
        )
      case 'fire':
        return this.ledger.fire(event.pick, (id) => this.#jobs.fire(this.#teamOf(id), id, AN_ACTOR))
      case 'duplicate':
        return this.ledger.duplicate(event.pick, this.scheduler, (job) => this.#intake.push(job))
      case 'away':
        return this.#leave(event.shard % this.plan.shards, event.forMs)
      case 'outage':
        return this.#outage(event.forMs, event.loadingMs)
      case 'clock':
        return this.#setClock(event.byMs)
      default:
        return this.#befall(event)
    }
  }

  #runAt(offsetMs: number): number {
    return Math.floor(this.server.wallMs + offsetMs)
  }

  #apply(queue: string, change: Partial<QueueSettings>): void {
    const settings = { ...(this.plan.queues.get(queue) as QueueSettings), ...change }
    this.#queues
      .apply(teamOf(queue), queue, settings)
      .catch(() => this.trace(() => `${queue} was not edited`))
  }

  #teamOf(jobId: number): string {
    const push = this.ledger.pushes.find(
      ({ result }) => result !== null && 'jobId' in result && result.jobId === jobId,
    )
    return push?.job.team ?? TEAM
  }

  /** One shard does not reply, the others do. */
  #leave(shard: number, forMs: number): void {
    const { nowMs } = this.scheduler
    this.faults.add({ kind: 'away', process: null, fromMs: nowMs, toMs: nowMs + forMs })
    this.server.silence(createShardKeys(shard).clock, nowMs + forMs)
  }

  #outage(forMs: number, loadingMs: number): void {
    const { nowMs } = this.scheduler
    this.faults.add({ kind: 'outage', process: null, fromMs: nowMs, toMs: nowMs + forMs + loadingMs })
    this.server.goDown()
    this.scheduler.after(forMs, () => this.server.comeUp(loadingMs))
  }

  #setClock(byMs: number): void {
    const { nowMs } = this.scheduler
    this.server.stepClock(byMs)
    // The engine waits for small steps back, and renews all leases after large ones: neither costs a lease.
    if (byMs > 0 && byMs <= 10_000)
      this.faults.add({ kind: 'clock', process: null, fromMs: nowMs, toMs: nowMs })
  }

  /** Applies a fault to one executor, unless it is dead, frozen or stopping. */
  #befall(event: Extract<PlannedEvent, { executor: number }>): void {
    const victim = this.executors[event.executor]
    if (victim === undefined || !victim.process.isLive || victim.stoppedAtMs < Infinity) return
    const { process, name } = victim
    const { nowMs } = this.scheduler
    const restart = (ms: number) => this.scheduler.after(ms, () => this.#startExecutor(event.executor))
    if (event.what === 'kill') {
      this.faults.add({ kind: 'kill', process: name, fromMs: nowMs, toMs: Infinity })
      process.kill()
      restart(event.restartMs)
    } else if (event.what === 'freeze') {
      this.faults.add({ kind: 'freeze', process: name, fromMs: nowMs, toMs: nowMs + event.forMs })
      process.freeze(event.stall)
      this.scheduler.after(event.forMs, () => process.resume())
    } else if (event.what === 'cut') {
      this.faults.add({ kind: 'cut', process: name, fromMs: nowMs, toMs: nowMs + event.forMs })
      victim.connection.stall(event.forMs)
    } else {
      this.faults.add({ kind: 'stop', process: name, fromMs: nowMs, toMs: Infinity })
      this.#stop(victim, event.graceMs, () => restart(event.restartMs))
    }
  }

  #stop(victim: SimulatedExecutor, graceMs: number, then: () => void): void {
    victim.stoppedAtMs = this.scheduler.nowMs
    void victim.executor.stop(graceMs).then(() => {
      this.trace(() => `${victim.name} has stopped`)
      if (victim.callsInFlight !== 0)
        this.complain(`${victim.name} stopped with ${victim.callsInFlight} slots in use`)
      victim.process.kill()
      then()
    })
  }

  /** Ends all further faults. Those in progress end at their own time. */
  #heal(): void {
    this.trace(() => '* heals')
    this.#isHealed = true
  }

  async #settle(): Promise<void> {
    const { scheduler } = this
    const deadlineMs = scheduler.nowMs + SETTLE_MS_MAX
    let quietSinceMs: number | null = null
    let resumedMs = 0
    while (scheduler.nowMs < deadlineMs) {
      await scheduler.runUntil(scheduler.nowMs + 1_000)
      // Repeated, because an edit that met an outage must not leave a queue paused for good.
      if (resumedMs < scheduler.nowMs - 20_000) {
        resumedMs = scheduler.nowMs
        for (const queue of this.plan.queues.keys()) this.#apply(queue, {})
      }
      if (!this.#isQuiet()) quietSinceMs = null
      else if (quietSinceMs === null) quietSinceMs = scheduler.nowMs
      else if (scheduler.nowMs - quietSinceMs > 5_000) return
    }
    this.complain('it does not come to rest')
  }

  #isQuiet(): boolean {
    // An executor that was frozen or disconnected must first notice whether it lost its leases.
    if (this.scheduler.nowMs < this.faults.overAtMs + LEARNING_MS) return false
    const executors = this.liveExecutors
    const isAwake = executors.length > 0 && executors.every(({ executor }) => executor.isReady())
    const isIdle = executors.every(({ callsInFlight }) => callsInFlight === 0)
    return (
      isAwake &&
      isIdle &&
      this.#areLeasesKnown() &&
      this.ledger.isAnswered &&
      !this.server.redis.hasKey(/:(b|a|m|trash):\d|:near$/)
    )
  }

  /** Whether each executor has one lease per shard, and every lost lease has been reaped. */
  #areLeasesKnown(): boolean {
    const { length } = this.liveExecutors
    for (let shard = 0; shard < this.plan.shards; shard += 1) {
      if (this.server.redis.run('zcard', [createShardKeys(shard).executors]) !== length) return false
    }
    return true
  }

  async #stopAll(): Promise<void> {
    const left = this.liveExecutors.filter(({ stoppedAtMs }) => stoppedAtMs === Infinity)
    for (const victim of left) this.#stop(victim, 5_000, () => undefined)
    await this.scheduler.runUntil(this.scheduler.nowMs + 20_000)
    for (const { name } of this.liveExecutors) this.complain(`${name} does not stop`)
  }
}
