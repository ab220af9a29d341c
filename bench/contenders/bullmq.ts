import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { startRedisServer, type RedisServer } from '../harness/redis-server.ts'
import { padded, type Comparison, type Contender, type ScenarioName, type Stand } from './contender.ts'
import { nodeProgram, openSplitStand } from './split-stand.ts'

const RUN_WITHIN_MS = 180_000

/** One `queue.add` a request. */
export const bullmq: Contender = contender('bullmq', {
  isBulk: false,
  scenarios: ['limited', 'lateness', 'memory', 'idle', 'calls', 'recovery'],
})
/** The requests of one turn go in by one `addBulk`, as a careful user would write it. */
export const bullmqAddBulk: Contender = contender('bullmq_add_bulk', {
  isBulk: true,
  scenarios: ['lateness', 'batches'],
})

function contender(
  name: string,
  { isBulk, scenarios }: { isBulk: boolean; scenarios: readonly ScenarioName[] },
): Contender {
  return {
    name,
    isSplit: true,
    scenarios,
    comparison: comparison(isBulk),
    open: async (folder) => openStand(await startRedisServer(folder), { name, folder, isBulk }),
  }
}

async function openStand(
  redis: RedisServer,
  { name, folder, isBulk }: { name: string; folder: string; isBulk: boolean },
): Promise<Stand> {
  const options = { redisPort: redis.port, isBulk }
  const peer = {
    name,
    intake: nodeProgram('bullmq', 'api'),
    worker: nodeProgram('bullmq', 'worker'),
    options,
  }
  return {
    ...(await openSplitStand(peer, redis, folder)),
    fill: (fill) => {
      const body = padded({ queue: 'bench', url: fill.targetUrl })
      return run('fill', { ...fill, body, redisPort: redis.port })
    },
    makeLimitedQueues: (count, limit) => run('queues', { count, limit, redisPort: redis.port }),
    makeIdleQueues: (count) => run('queues', { count, limit: null, redisPort: redis.port }),
    isAtRest: async () => {
      const open = await Promise.all(
        ['bench', 'q0'].map((queue) => redis.client.llen(`bull:${queue}:active`)),
      )
      return open.every((count) => count === 0)
    },
  }
}

/** A program that ends by itself. */
async function run(role: string, options: object): Promise<void> {
  const { command, args } = nodeProgram('bullmq', role)
  await promisify(execFile)(command, [...args, JSON.stringify(options)], { timeout: RUN_WITHIN_MS })
}

function comparison(isBulk: boolean): Comparison {
  return {
    setup: isBulk
      ? 'as bullmq, but the requests of one turn go in by one `addBulk`'
      : 'BullMQ 6, Redis; one `add` a request, auto-pipelining; finished jobs dropped',
    lacks:
      'calls over HTTP (the worker is ours), teams, dead letters with replay, signed calls, egress check, history of calls',
    better: 'runs any code; priorities, flows of jobs, rate limits; jobs can be added without an API',
  }
}
