import { loopsOf } from '../../support/loops.ts'
import { teamsOf } from '../../support/no-own-secrets.ts'
import { NO_TEAM_SETTINGS } from '../../../src/ports/settings.ts'
import type { Logger } from '../../../src/ports/runtime.ts'
import type { Metrics } from '../../../src/ports/metrics.ts'
import type { JobIds } from '../../../src/domain/jobs/job-ids.ts'
import { DEFAULT_QUEUE_SETTINGS } from '../../../src/domain/jobs/queue-settings.ts'
import { Executor } from '../../../src/executor/executor.ts'
import { capacityOf } from '../../support/engine/capacity.ts'
import { createCronSource } from '../../../src/redis/crons/tick/cron-source.ts'
import { createEngine, type Engine } from '../../../src/redis/base/engine/engine.ts'
import { RedisJobSource } from '../../../src/redis/jobs/execute/job-source.ts'
import { SuspectCohort } from '../../../src/redis/jobs/execute/claim/suspect-cohort.ts'
import type { Scripts } from '../../../src/redis/steps.ts'
import { createStepRunner } from '../../../src/redis/base/engine/step-runner.ts'
import { createShardMaintenance } from '../../../src/redis/upkeep/maintenance/shard-maintenance.ts'
import { withNewQueues } from '../../support/engine/new-queues.ts'
import { quietMetrics } from '../../support/quiet.ts'
import { throwFor, throwingCaller, throwingSource } from '../throws/throwing-parts.ts'
import { ROOMY_BYTES, type Thrower } from './plan.ts'
import type { Scheduler } from './scheduler.ts'
import type { SeededRandom } from './seeded-random.ts'
import { SimulatedConnection, type NetworkFaults } from '../redis/simulated-connection.ts'
import { SimulatedProcess } from './simulated-process.ts'
import type { SimulatedServer } from '../redis/simulated-server.ts'
import type { SimulatedTarget } from './simulated-target.ts'

/** What all processes of a simulation share. */
export interface Surroundings {
  readonly scheduler: Scheduler
  readonly server: SimulatedServer
  readonly target: SimulatedTarget
  readonly random: SeededRandom
  readonly scripts: Scripts
  readonly jobIds: JobIds
  readonly network: () => NetworkFaults
  readonly hintLoss: () => number
  readonly trace: (line: () => string) => void
  readonly onBreak: (process: string) => void
  /** Reports something that must never happen. */
  readonly complain: (problem: string) => void
  readonly thrower: Thrower | null
}

/** The engine's adapters in one process, on its own connection. */
export interface EngineProcess {
  readonly process: SimulatedProcess
  readonly connection: SimulatedConnection
  readonly engine: Engine
  readonly logger: Logger
}

export function openEngineProcess(
  around: Surroundings,
  name: string,
  options: { commandTimeoutMs: number; metrics: Metrics },
): EngineProcess {
  const { scheduler, server, random, trace, onBreak } = around
  const process = new SimulatedProcess(name, scheduler, random.fork())
  const connection = new SimulatedConnection({
    process,
    server,
    scheduler,
    trace,
    onBreak,
    random: random.fork(),
    faults: around.network,
    commandTimeoutMs: options.commandTimeoutMs,
  })
  const logger = createLogger(around, name)
  const { metrics } = options
  const { clock } = process
  const inner = createStepRunner({ connection: connection.client, scripts: around.scripts, clock, metrics })
  const runner = withNewQueues(inner, () => NEW_QUEUES)
  return {
    process,
    connection,
    logger,
    engine: createEngine({ runner, jobIds: around.jobIds, logger, metrics }),
  }
}

/** Logs to the trace; an error in the log is a defect, unless it names the team for which a step throws. */
function createLogger(around: Surroundings, name: string): Logger {
  const write = (level: string) => (message: string, fields?: Record<string, unknown>) => {
    around.trace(() => `${name} ${level}: ${message} ${fields === undefined ? '' : JSON.stringify(fields)}`)
    const isPlanted = around.thrower !== null && fields?.['team'] === around.thrower.team
    if (level === 'error' && !isPlanted)
      around.complain(`${name} logged "${message}" ${JSON.stringify(fields)}`)
  }
  const logger: Logger = {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    child: () => logger,
  }
  return logger
}

const EXECUTOR_COMMAND_TIMEOUT_MS = 5_000
/** Settings of queues created by a push or a cron's run; short, because a story must end. */
const NEW_QUEUES = { ...DEFAULT_QUEUE_SETTINGS, retryDelays: [1] }

/** One executor process: the product's executor and adapters in virtual time. */
export class SimulatedExecutor {
  readonly name: string
  readonly process: SimulatedProcess
  readonly connection: SimulatedConnection
  readonly executor: Executor
  stoppedAtMs = Infinity
  #readCallsInFlight = (): number => 0

  constructor(
    around: Surroundings,
    name: string,
    options: {
      concurrency: number
      callBytes?: number
      keepsSuccesses?: boolean
      onLeaseLost: () => void
      onStale: () => void
    },
  ) {
    this.name = name
    const metrics: Metrics = {
      ...quietMetrics,
      callSlots: (_slots, read) => {
        this.#readCallsInFlight = read
      },
      leaseLost: options.onLeaseLost,
      jobFinished: (outcome) => {
        if (outcome === 'stale') options.onStale()
      },
    }
    const opened = openEngineProcess(around, name, { commandTimeoutMs: EXECUTOR_COMMAND_TIMEOUT_MS, metrics })
    const { process, connection, engine, logger } = opened
    this.process = process
    this.connection = connection
    let leases = 0
    const random = around.random.fork()
    const cohort = new SuspectCohort(options.concurrency)
    this.executor = new Executor({
      shards: engine.shards.map(({ shard }) => ({
        shard,
        openSource: (id) =>
          throwingSource(
            around.thrower,
            (windows) => new RedisJobSource(engine, shard, id, { cohort, windows }),
          ),
        maintenance: createShardMaintenance(engine, shard),
        crons: createCronSource(engine, shard),
      })),
      hints: { onWake: (listener) => this.#listen(around, random, listener) },
      caller: throwingCaller(around.thrower, around.target.callerOf(process)),
      teams: teamsOf((team) => {
        throwFor(around.thrower, 'settings', team)
        return NO_TEAM_SETTINGS
      }),
      jobIds: around.jobIds,
      clock: process.clock,
      logger,
      metrics,
      loops: loopsOf({ clock: process.clock, logger }),
      capacity: capacityOf(options.concurrency, { callBytes: options.callBytes ?? ROOMY_BYTES }),
      // At work most successes leave no record; the few of a story all would.
      ...(options.keepsSuccesses ? {} : { keepsSuccess: () => false }),
      newExecutorId: () => {
        leases += 1
        return `${name}.${leases}`
      },
      random: () => random.next(),
      redisNowMs: (shard) => engine.runner.redisNowMs(shard),
    })
  }

  get callsInFlight(): number {
    return this.#readCallsInFlight()
  }

  #listen(around: Surroundings, random: SeededRandom, listener: (shard: number) => void): () => void {
    const unsubscribe = around.server.onHint((message) => {
      if (random.chance(around.hintLoss())) return
      this.process.deliver(around.scheduler.nowMs + random.between(0.05, 2), () => listener(Number(message)))
    })
    this.process.onDeath(unsubscribe)
    return unsubscribe
  }
}
