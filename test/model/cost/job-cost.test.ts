/**
 * What a job costs, counted instead of timed: commands and bytes are the same on every machine. They are compared
 * exactly, so that a cost that falls is noted too; whoever changes one on purpose writes the new one here.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startRedis, type TestRedis } from '../../support/servers/redis-server.ts'
import { CostStage, type Cost } from './cost-stage.ts'

const STAGES = ['push', 'claim', 'call', 'finish'] as const
type Stage = (typeof STAGES)[number]

interface CountedCost extends Pick<Cost, 'toRedis' | 'fromRedis' | 'toTarget'> {
  /** Commands and how often, what scripts called included. */
  readonly asked: string
}

/** Fills up the first block of job ids, so that the next hundred are of one block. */
const JOBS_BEFORE = 27
const ROUNDS = 5
const LIVES_OF_A_ROUND = 20

const ONE_ALONE: Record<Stage, CountedCost> = {
  push: {
    asked:
      'evalsha 1 get 1 hincrby 4 hmget 5 hset 4 llen 1 publish 1 rpush 1 set 1 time 1 zadd 1 zrange 1 zscore 1',
    toRedis: 1239,
    fromRedis: 47,
    toTarget: 0,
  },
  claim: {
    asked:
      'del 1 evalsha 1 get 1 hget 2 hincrby 1 hmget 3 hset 2 lrange 1 set 1 time 1 zadd 1 zcard 1 zincrby 1 zrange 3 zrem 1 zscore 1',
    toRedis: 818,
    fromRedis: 466,
    toTarget: 0,
  },
  call: { asked: '', toRedis: 0, fromRedis: 0, toTarget: 481 },
  finish: {
    asked: 'evalsha 1 hdel 2 hget 2 hincrby 5 hmget 3 hset 3 lpush 1 rpush 1 time 1 zrem 1',
    toRedis: 1124,
    fromRedis: 49,
    toTarget: 0,
  },
}

/** One push of a hundred, claimed and finished in two batches. */
const HUNDRED_TOGETHER: Record<Stage, CountedCost> = {
  push: {
    asked:
      'evalsha 1 get 1 hincrby 4 hmget 5 hset 4 llen 1 publish 1 rpush 1 set 1 time 1 zadd 1 zrange 1 zscore 1',
    toRedis: 22129,
    fromRedis: 49,
    toTarget: 0,
  },
  claim: {
    asked:
      'del 1 evalsha 2 get 2 hget 4 hincrby 2 hmget 6 hset 4 llen 2 lrange 4 ltrim 1 set 2 time 2 zadd 2 zcard 2 zincrby 3 zrange 6 zrem 1 zscore 2',
    toRedis: 1502,
    fromRedis: 24795,
    toTarget: 0,
  },
  call: { asked: '', toRedis: 0, fromRedis: 0, toTarget: 48265 },
  finish: {
    asked: 'evalsha 2 hdel 4 hget 4 hincrby 10 hmget 6 hset 6 lpush 2 rpush 2 time 2 zrem 2',
    toRedis: 14971,
    fromRedis: 198,
    toTarget: 0,
  },
}

const FIFTY_QUEUES: Record<Stage, CountedCost> = {
  push: {
    asked:
      'evalsha 1 get 1 hincrby 4 hmget 54 hset 53 llen 50 publish 1 rpush 50 set 1 time 1 zadd 50 zrange 1 zscore 1',
    toRedis: 22192,
    fromRedis: 49,
    toTarget: 0,
  },
  claim: {
    asked:
      'del 1 evalsha 1 get 1 hget 2 hincrby 1 hmget 101 hset 2 lrange 50 set 1 time 1 zadd 50 zcard 1 zincrby 1 zrange 3 zrem 1 zscore 1',
    toRedis: 8027,
    fromRedis: 15297,
    toTarget: 0,
  },
  call: { asked: '', toRedis: 0, fromRedis: 0, toTarget: 24150 },
  finish: {
    asked: 'evalsha 1 hdel 51 hget 2 hincrby 5 hmget 52 hset 52 lpush 50 rpush 1 time 1 zrem 50',
    toRedis: 16554,
    fromRedis: 99,
    toTarget: 0,
  },
}

/**
 * Bytes on the heap for each job, one and a half times what is measured once the code has run hot: how the runtime
 * compiles it differs from run to run by a tenth. Those of the call include the target's, which is in this process.
 */
const ALLOCATED_MAX: Record<Stage, number> = { push: 7_500, claim: 8_000, call: 26_000, finish: 7_500 }

let redis: TestRedis
let stage: CostStage

beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())
beforeEach(async () => {
  await redis.client.flushall()
  stage = await CostStage.open(redis)
})
afterEach(() => stage.close())

async function life(jobs: number, queues: number): Promise<Record<Stage, Cost>> {
  await stage.beat()
  const push = await stage.cost(() => stage.push(jobs, queues))
  const claim = await stage.cost(() => stage.claim(jobs))
  const call = await stage.cost(() => stage.call(claim.result))
  const finish = await stage.cost(() => stage.finish(call.result))
  return { push: push.cost, claim: claim.cost, call: call.cost, finish: finish.cost }
}

/** Of a second life: the first one makes queues, sends scripts and learns names. */
async function countedLife(jobs: number, queues: number): Promise<Record<Stage, CountedCost>> {
  await life(jobs === 1 ? 1 : JOBS_BEFORE, queues)
  if (queues > JOBS_BEFORE) await life(queues, queues)
  const costs = await life(jobs, queues)
  const counted = STAGES.map((name): [Stage, CountedCost] => {
    const { commands, toRedis, fromRedis, toTarget } = costs[name]
    const asked = Object.entries(commands).map(([command, calls]) => `${command} ${calls}`)
    return [name, { asked: asked.toSorted().join(' '), toRedis, fromRedis, toTarget }]
  })
  return Object.fromEntries(counted) as Record<Stage, CountedCost>
}

describe('a job costs what it did', () => {
  test('alone', async () => {
    expect(await countedLife(1, 1)).toEqual(ONE_ALONE)
  })

  test('among a hundred of its queue', async () => {
    expect(await countedLife(100, 1)).toEqual(HUNDRED_TOGETHER)
  })

  test('among fifty, each in a queue of its own', async () => {
    expect(await countedLife(50, 50)).toEqual(FIFTY_QUEUES)
  })

  test('in memory that is allocated for it', async () => {
    const least = await leastAllocated()
    for (const name of STAGES) {
      expect(least[name], `bytes allocated for a ${name}`).toBeLessThan(ALLOCATED_MAX[name])
      // Else nothing was counted.
      expect(least[name], `bytes allocated for a ${name}`).toBeGreaterThan(ALLOCATED_MAX[name] / 10)
    }
  })
})

/** Of the round that allocated least, a job: the first rounds also allocate what the compiler needs. */
async function leastAllocated(): Promise<Record<Stage, number>> {
  const least = { push: Infinity, claim: Infinity, call: Infinity, finish: Infinity }
  for (let round = 0; round < ROUNDS; round += 1) {
    const sums = { push: 0, claim: 0, call: 0, finish: 0 }
    for (let lives = 0; lives < LIVES_OF_A_ROUND; lives += 1) {
      const costs = await life(100, 1)
      for (const name of STAGES) sums[name] += costs[name].allocated
    }
    for (const name of STAGES)
      least[name] = Math.min(least[name], Math.round(sums[name] / (100 * LIVES_OF_A_ROUND)))
  }
  return least
}
