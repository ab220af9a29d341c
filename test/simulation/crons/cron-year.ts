import type { CronSettings } from '../../../src/domain/crons/cron.ts'
import { JobIds } from '../../../src/domain/jobs/job-ids.ts'
import { createCronStore } from '../../../src/redis/crons/cron-store.ts'
import { createShardKeys } from '../../../src/redis/base/layout/keys.ts'
import { loadScripts, type Scripts } from '../../../src/redis/steps.ts'
import { quietMetrics } from '../../support/quiet.ts'
import { TickWatcher } from './cron-year-oracle.ts'
import { drawVisit, drawYearCrons, type Visit, type VisitingExecutor } from './cron-year-plan.ts'
import { TEAM } from '../story/plan.ts'
import { Scheduler } from '../story/scheduler.ts'
import { SeededRandom } from '../story/seeded-random.ts'
import { NO_FAULTS, type NetworkFaults } from '../redis/simulated-connection.ts'
import { openEngineProcess, SimulatedExecutor, type Surroundings } from '../story/simulated-executor.ts'
import { SimulatedServer } from '../redis/simulated-server.ts'
import { SimulatedTarget } from '../story/simulated-target.ts'

const DAY_MS = 86_400_000
const YEAR_MS = 366 * DAY_MS
/** Decided about at the end, without faults. */
const LAST_VISIT_MS = 120_000
/** What the network still holds has arrived by then. */
const QUIET_MS = 6_000
const LOOK_MS = 100
const GRACE_MS = 200
/** Then the story ends. */
const PROBLEMS_MAX = 10
const HABITS = { failing: 0.1, hanging: 0.01, slow: 0.05, slowMs: 1_500, localFault: 0, isAsking: false }
const SCRIPTS = loadScripts()

export interface YearOutcome {
  readonly problems: readonly string[]
  readonly visits: number
  readonly kills: number
  readonly ticks: Readonly<Record<'run' | 'skipped' | 'missed', number>>
}

/**
 * A year of crons in virtual time. Executors live only about some ticks; over the others, or over days, all are away.
 * What then becomes of each tick is seen as it is decided.
 */
export class CronYear {
  readonly problems: string[] = []
  readonly #scheduler = new Scheduler()
  readonly #server: SimulatedServer
  readonly #target: SimulatedTarget
  readonly #around: Surroundings
  readonly #watcher: TickWatcher
  readonly #random: SeededRandom
  readonly #crons: ReadonlyMap<string, CronSettings>
  readonly #shards: number
  readonly #onTrace: ((line: string) => void) | undefined
  #network: NetworkFaults = NO_FAULTS
  #live: SimulatedExecutor[] = []
  #generations = 0
  #visits = 0
  #kills = 0

  constructor(seed: number, options: { scripts?: Scripts; onTrace?: (line: string) => void } = {}) {
    const { scripts = SCRIPTS, onTrace } = options
    const random = new SeededRandom(seed ^ 0x9ea2)
    const scheduler = this.#scheduler
    this.#onTrace = onTrace
    this.#random = random.fork()
    this.#crons = drawYearCrons(random.fork())
    this.#shards = random.integer(1, 2)
    this.#server = new SimulatedServer(scheduler, scripts, random.fork())
    this.#watcher = new TickWatcher(this.#server, (problem) => this.#complain(problem))
    this.#server.watch(this.#watcher)
    const trace = (line: () => string) => this.#trace(line)
    this.#target = new SimulatedTarget({
      scheduler,
      trace,
      random: random.fork(),
      onStart: () => undefined,
      habits: () => HABITS,
    })
    this.#around = {
      scheduler,
      scripts,
      trace,
      random: random.fork(),
      server: this.#server,
      target: this.#target,
      jobIds: new JobIds(this.#shards, '0123456789ab'),
      network: () => this.#network,
      hintLoss: () => 0,
      onBreak: () => undefined,
      complain: (problem) => this.#complain(problem),
      thrower: null,
    }
  }

  async tell(): Promise<YearOutcome> {
    const endMs = this.#server.wallMs + YEAR_MS
    await this.#makeCrons(endMs + 30 * DAY_MS)
    while (this.#server.wallMs < endMs && this.problems.length < PROBLEMS_MAX) {
      await this.#visit(drawVisit(this.#random))
    }
    const last = { fromTickMs: 0, network: NO_FAULTS, outage: null, clockMs: 0, lastsMs: LAST_VISIT_MS }
    await this.#visit({ ...last, executors: [{ startMs: 0, killMs: null }] })
    this.#judgeEnd()
    const { counts } = this.#watcher
    return { problems: this.problems, visits: this.#visits, kills: this.#kills, ticks: counts }
  }

  #complain(problem: string): void {
    this.#trace(() => `PROBLEM ${problem}`)
    this.problems.push(problem)
  }

  #trace(line: () => string): void {
    this.#onTrace?.(`${new Date(Math.floor(this.#server.wallMs)).toISOString()} ${line()}`)
  }

  async #makeCrons(untilMs: number): Promise<void> {
    const options = { commandTimeoutMs: 1_500, metrics: quietMetrics }
    const { engine } = openEngineProcess(this.#around, 'api', options)
    for (let shard = 0; shard < this.#shards; shard += 1) {
      this.#server.redis.run('setnx', [createShardKeys(shard).created, '1'])
    }
    const store = createCronStore(engine)
    for (const [name, settings] of this.#crons) {
      const applied = store.apply(TEAM, name, settings)
      await this.#pass(LOOK_MS)
      const { cronId } = await applied
      this.#watcher.watch(name, settings, { cronId, shards: this.#shards, untilMs })
    }
  }

  async #visit(visit: Visit): Promise<void> {
    const scheduler = this.#scheduler
    await this.#pass(Math.max(0, this.#nextDueMs() + visit.fromTickMs - this.#server.wallMs))
    this.#visits += 1
    this.#network = visit.network
    if (visit.clockMs !== 0) this.#trace(() => `* the clock is set by ${visit.clockMs} ms`)
    this.#server.stepClock(visit.clockMs)
    const { outage } = visit
    if (outage !== null) scheduler.after(outage.atMs, () => this.#outage(outage.forMs))
    for (const executor of visit.executors) this.#schedule(executor)
    await this.#pass(visit.lastsMs)
    await this.#end()
  }

  /** All stop; those that cannot are killed. */
  async #end(): Promise<void> {
    for (const { executor } of this.#live) void executor.stop(GRACE_MS)
    await this.#pass(2 * GRACE_MS)
    for (const { process } of this.#live) process.kill()
    this.#live = []
    await this.#pass(QUIET_MS)
  }

  async #pass(ms: number): Promise<void> {
    // What was begun just now is not among the events yet.
    await this.#scheduler.quiet()
    await this.#scheduler.runUntil(this.#scheduler.nowMs + ms)
  }

  #schedule({ startMs, killMs }: VisitingExecutor): void {
    this.#scheduler.after(startMs, () => {
      this.#generations += 1
      const started = new SimulatedExecutor(this.#around, `e${this.#generations}`, {
        concurrency: 16,
        onLeaseLost: () => undefined,
        onStale: () => undefined,
      })
      this.#live.push(started)
      this.#trace(() => `${started.name} starts`)
      started.executor.start()
      if (killMs === null) return
      this.#scheduler.after(killMs - startMs, () => {
        if (started.process.isDead) return
        this.#kills += 1
        this.#trace(() => `${started.name} is killed`)
        started.process.kill()
      })
    })
  }

  #outage(forMs: number): void {
    this.#trace(() => `* Redis goes away for ${forMs.toFixed(0)} ms`)
    this.#server.goDown()
    this.#scheduler.after(forMs, () => this.#server.comeUp(0))
  }

  #nextDueMs(): number {
    const heads = Array.from({ length: this.#shards }, (_, shard) => {
      const head = this.#server.redis.run('zrange', [createShardKeys(shard).cronsDue, '0', '0', 'WITHSCORES'])
      return Number((head as string[])[1] ?? Infinity)
    })
    return Math.min(...heads)
  }

  #judgeEnd(): void {
    const { wallMs, defects } = this.#server
    for (const defect of defects) this.#complain(`Redis: ${defect}`)
    const runs = new Set<number>()
    for (const { name, ticks, decided, spreadMs, runs: of } of this.#watcher.crons) {
      const nextMs = (ticks[decided] ?? Infinity) + spreadMs
      if (nextMs < wallMs - QUIET_MS - 1_000) this.#complain(`cron ${name} ticks no more since ${nextMs}`)
      for (const root of of) runs.add(root)
    }
    for (const { url, jobId } of this.#target.deliveries) {
      const root = this.#around.jobIds.rootOf(jobId ?? 0)
      if (!runs.has(root)) this.#complain(`${url} was called for job ${root}, of which no record tells`)
    }
  }
}
