import type { JobIds } from '../../../src/domain/jobs/job-ids.ts'
import type { QueueSettings } from '../../../src/domain/jobs/queue-settings.ts'
import type { JobIntake } from '../../../src/ports/jobs.ts'
import type { RedisConnection } from '../../../src/redis/base/client/connection.ts'
import { createEngine, type Engine } from '../../../src/redis/base/engine/engine.ts'
import { META_KEY } from '../../../src/redis/base/layout/keys.ts'
import { createJobIntake } from '../../../src/redis/jobs/enqueue/job-intake.ts'
import { loadScripts } from '../../../src/redis/steps.ts'
import { createStepRunner, type StepRunner } from '../../../src/redis/base/engine/step-runner.ts'
import { systemClock } from '../../../src/telemetry/system-clock.ts'
import { withNewQueues } from '../../support/engine/new-queues.ts'
import { quietLogger, quietMetrics } from '../../support/quiet.ts'
import type { TestClock } from '../../support/lua/wrapped-scripts.ts'
import { MemoryRedis } from '../../simulation/redis/memory-redis.ts'

/** The engine on the simulation's Redis. */
export interface MemoryWorld {
  readonly engine: Engine
  newIntake(): JobIntake
  dump(): Record<string, unknown>
}

const SCRIPTS = loadScripts()

export function openMemoryWorld(clock: TestClock, jobIds: JobIds, newQueues: QueueSettings): MemoryWorld {
  const redis = new MemoryRedis({ scripts: SCRIPTS, nowMs: () => clock.wallMs, random: () => 0.5 })
  const connection = inSortedOrder(clientOf(redis))
  const engine = createEngine({
    runner: withNewQueues(onTestClock(connection, clock), () => newQueues),
    jobIds,
    logger: quietLogger,
    metrics: quietMetrics,
  })
  redis.run('hset', [META_KEY, 'installation', '0123456789ab'])
  for (const keys of engine.shards) redis.run('setnx', [keys.created, '1'])
  return {
    engine,
    newIntake: () => createJobIntake(engine, { nowMs: () => clock.monotonicMs }),
    dump: () => redis.dump(),
  }
}

function clientOf(redis: MemoryRedis): RedisConnection {
  return new Proxy({} as RedisConnection, {
    get:
      (_, name) =>
      async (...words: unknown[]) => {
        if (name === 'publish') return 0
        const reply = redis.run(String(name), words.map(String))
        return name === 'hgetall' ? Object.fromEntries(pairs(reply as string[])) : reply
      },
  })
}

/** Estimates Redis time as the wrapped runner of the model tests does. */
function onTestClock(connection: RedisConnection, clock: TestClock): StepRunner {
  const inner = createStepRunner({ connection, scripts: SCRIPTS, clock: systemClock, metrics: quietMetrics })
  const offsets: number[] = []
  return {
    run: (call) => inner.run(call),
    read: (reads, readAnewForMs) => inner.read(reads, readAnewForMs),
    redisNowMs: (shard) => clock.monotonicMs + (offsets[shard] ?? clock.wallMs - clock.monotonicMs),
    noteRedisTime: (shard, redisMs) => {
      offsets[shard] = redisMs - clock.monotonicMs
    },
  }
}

const UNORDERED: ReadonlySet<string> = new Set(['hrandfield', 'hscan', 'hkeys', 'srandmember'])

/** Answers whose order Redis leaves open come in one order, so that two of them can be compared. */
export function inSortedOrder(connection: RedisConnection): RedisConnection {
  return new Proxy(connection, {
    get: (target, name) => {
      const method: unknown = Reflect.get(target, name)
      if (typeof method !== 'function') return method
      if (!UNORDERED.has(String(name))) return method.bind(target) as unknown
      return async (...words: unknown[]) =>
        sorted(String(name), words, (await method.apply(target, words)) as unknown)
    },
  })
}

function sorted(name: string, words: readonly unknown[], reply: unknown): unknown {
  if (reply === null) return reply
  if (name === 'hscan') {
    const [cursor, flat] = reply as [string, string[]]
    return [cursor, sortedPairs(flat)]
  }
  return words.includes('WITHVALUES') ? sortedPairs(reply as string[]) : (reply as string[]).toSorted()
}

function sortedPairs(flat: readonly string[]): string[] {
  return pairs(flat)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flat()
}

function pairs(flat: readonly string[]): Array<[string, string]> {
  return Array.from({ length: flat.length / 2 }, (_, i) => [flat[i * 2] as string, flat[i * 2 + 1] as string])
}
