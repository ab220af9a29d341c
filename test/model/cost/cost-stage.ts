/** The life of jobs, one stage after the other, so that what each costs can be counted. */
import assert from 'node:assert/strict'
import { getHeapStatistics } from 'node:v8'
import type { Redis } from 'ioredis'
import { CLAIM_BATCH_MAX } from '../../../src/domain/limits.ts'
import type { JobIds } from '../../../src/domain/jobs/job-ids.ts'
import { createCallRunner, type CallRunner } from '../../../src/executor/calls/call-runner.ts'
import { EgressGuard } from '../../../src/outbound/egress/egress-guard.ts'
import { createHttpCaller } from '../../../src/outbound/http-caller.ts'
import type { HttpCaller } from '../../../src/ports/http-caller.ts'
import type { ClaimedWork, JobIntake, JobSource, NewJob, WorkEnd } from '../../../src/ports/jobs.ts'
import { NO_TEAM_SETTINGS } from '../../../src/ports/settings.ts'
import { connectRedis } from '../../../src/redis/base/client/connection.ts'
import { createEngine, type Engine } from '../../../src/redis/base/engine/engine.ts'
import { createStepRunner } from '../../../src/redis/base/engine/step-runner.ts'
import { createJobIntake } from '../../../src/redis/jobs/enqueue/job-intake.ts'
import { RedisJobSource } from '../../../src/redis/jobs/execute/job-source.ts'
import { openInstallation } from '../../../src/redis/base/installation/installation.ts'
import { loadScripts } from '../../../src/redis/steps.ts'
import { systemClock } from '../../../src/telemetry/system-clock.ts'
import { newJob } from '../../support/engine/engine.ts'
import { claimed } from '../../support/engine/model-executor.ts'
import { teamsOf } from '../../support/no-own-secrets.ts'
import { quietLogger, quietMetrics } from '../../support/quiet.ts'
import { commandsDuring } from '../../support/servers/command-counts.ts'
import type { TestRedis } from '../../support/servers/redis-server.ts'
import { LOOPBACK_OPEN, type RawTarget, startRawTarget } from '../../support/targets/outbound-targets.ts'

/** What one stage cost, of all its jobs together. */
export interface Cost {
  /** What Redis was asked, by name, with what its scripts called. */
  readonly commands: Readonly<Record<string, number>>
  readonly toRedis: number
  readonly fromRedis: number
  readonly toTarget: number
  /** By this process, on its heap. */
  readonly allocated: number
}

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'
/** A PING and its answer, behind which everything sent before has arrived. */
const PING = { sent: '*1\r\n$4\r\nping\r\n'.length, received: '+PONG\r\n'.length }

/** The engine of one API and one executor on an empty Redis, with the executor's way to a target. */
export class CostStage {
  readonly #redis: TestRedis
  readonly #connection: Redis
  readonly #intake: JobIntake
  readonly #source: JobSource
  readonly #target: RawTarget
  readonly #caller: HttpCaller
  readonly #runCall: CallRunner
  readonly #nowMs: number

  private constructor(parts: {
    readonly redis: TestRedis
    readonly connection: Redis
    readonly engine: Engine
    readonly target: RawTarget
  }) {
    const { redis, connection, engine, target } = parts
    this.#redis = redis
    this.#connection = connection
    this.#target = target
    this.#nowMs = engine.runner.redisNowMs(0)
    this.#intake = createJobIntake(engine, { nowMs: () => 0 })
    this.#source = new RedisJobSource(engine, 0, 'executor')
    this.#caller = createHttpCaller({
      egress: new EgressGuard(LOOPBACK_OPEN),
      // Every call takes 0 ms: its duration is part of the record.
      clock: { ...systemClock, monotonicMs: () => 0 },
      logger: quietLogger,
      version: '0.0.0',
    })
    this.#runCall = callRunnerOf(this.#caller, engine.jobIds)
  }

  static async open(redis: TestRedis): Promise<CostStage> {
    const options = {
      url: redis.url,
      commandTimeoutMs: 10_000,
      name: 'test',
      clock: systemClock,
      logger: quietLogger,
    }
    const connection = await connectRedis(options)
    const jobIds = await openInstallation(connection, 1)
    const scripts = loadScripts()
    const runner = createStepRunner({ connection, scripts, clock: systemClock, metrics: quietMetrics })
    const [seconds = 0] = await redis.client.time()
    const nowMs = seconds * 1000
    // Time stands still for whatever looks again after a while: how long a stage takes must not be counted.
    const engine = createEngine({
      runner: { ...runner, redisNowMs: () => nowMs },
      jobIds,
      logger: quietLogger,
      metrics: quietMetrics,
    })
    const target = await startRawTarget((socket) => socket.write(OK))
    const stage = new CostStage({ redis, connection: connection as Redis, engine, target })
    await stage.beat(true)
    return stage
  }

  /** Keeps the lease, which a slow machine may need longer than it lasts. */
  async beat(isFirst = false): Promise<void> {
    assert.equal((await this.#source.beat(isFirst)).status, 'ok')
  }

  async push(count: number, queues: number): Promise<void> {
    const request = {
      url: `${this.#target.url}hook`,
      headers: { 'content-type': 'application/json' },
      payload: JSON.stringify({ order: 4711, text: 'x'.repeat(100) }),
    }
    const jobs = Array.from({ length: count }, (_, i) => newJob({ queue: `q${10 + (i % queues)}`, request }))
    const ends = count === 1 ? [await this.#intake.push(jobs[0] as NewJob)] : await this.#intake.pushAll(jobs)
    assert.ok(ends.every(({ status }) => status === 'created'))
  }

  async claim(count: number): Promise<ClaimedWork[]> {
    const work: ClaimedWork[] = []
    while (work.length < count) {
      const more = await claimed(this.#source, Math.min(CLAIM_BATCH_MAX, count - work.length))
      assert.ok(more.length > 0)
      work.push(...more)
    }
    return work
  }

  call(work: readonly ClaimedWork[]): Promise<WorkEnd[]> {
    const { signal } = new AbortController()
    return Promise.all(work.map((each) => this.#runCall(withoutWait(each), signal, () => this.#nowMs)))
  }

  async finish(ends: readonly WorkEnd[]): Promise<void> {
    for (let at = 0; at < ends.length; at += CLAIM_BATCH_MAX) {
      const codes = await this.#source.finish(ends.slice(at, at + CLAIM_BATCH_MAX))
      assert.ok(codes.every((code) => code === 'done'))
    }
  }

  async cost<Result>(act: () => Promise<Result>): Promise<{ readonly cost: Cost; readonly result: Result }> {
    let result: Result | undefined
    let used = { toRedis: 0, fromRedis: 0, toTarget: 0, allocated: 0 }
    const { ping: _pings, ...commands } = await commandsDuring(this.#redis.client, async () => {
      const before = await this.#counters()
      result = await act()
      const after = await this.#counters()
      used = {
        toRedis: after.toRedis - before.toRedis - PING.sent,
        fromRedis: after.fromRedis - before.fromRedis - PING.received,
        toTarget: after.toTarget - before.toTarget,
        allocated: after.allocated - before.allocated,
      }
    })
    return { cost: { commands, ...used }, result: result as Result }
  }

  async close(): Promise<void> {
    await this.#caller.close()
    this.#connection.disconnect()
    await this.#target.close()
  }

  async #counters() {
    await this.#connection.ping()
    const { stream } = this.#connection
    return {
      toRedis: (stream as { bytesWritten: number }).bytesWritten,
      fromRedis: (stream as { bytesRead: number }).bytesRead,
      toTarget: this.#target.received().length,
      allocated: getHeapStatistics().total_allocated_bytes,
    }
  }
}

function callRunnerOf(caller: HttpCaller, jobIds: JobIds): CallRunner {
  return createCallRunner({
    caller,
    teams: teamsOf(() => NO_TEAM_SETTINGS),
    jobIds,
    metrics: quietMetrics,
    noteDefect: (_part, error) => assert.fail(error as Error),
    random: () => 0.5,
    keepsSuccess: () => false,
    onLocalFault: () => assert.fail('the machine opens no connection'),
  })
}

/** As if it had been claimed when it was due: the wait is part of what a finish sends. */
function withoutWait(work: ClaimedWork): ClaimedWork {
  return work.kind === 'job' ? { ...work, startedAtMs: work.scheduledAtMs } : work
}
