import { expect, test } from 'vitest'
import { StoreUnavailableError } from '../../../../../src/domain/errors.ts'
import { JobIds } from '../../../../../src/domain/jobs/job-ids.ts'
import { STORE_DEADLINE_MS } from '../../../../../src/domain/limits.ts'
import { createEngine, shardOfQueue } from '../../../../../src/redis/base/engine/engine.ts'
import { createJobIntake } from '../../../../../src/redis/jobs/enqueue/job-intake.ts'
import type { StepRunner } from '../../../../../src/redis/base/engine/step-runner.ts'
import type { StepCall } from '../../../../../src/redis/base/engine/step.ts'
import { newJob } from '../../../../support/engine/engine.ts'
import { quietLogger, quietMetrics } from '../../../../support/quiet.ts'

/** An intake on a Redis whose every step takes so long; what time each step was given. */
function slowIntake(stepMs: number) {
  let nowMs = 5_000
  const given: Array<readonly [string, number]> = []
  const replies: Readonly<Record<string, string>> = {
    reserve_queue: '2',
    reserve_ids: '0',
    enqueue: '5000 0 1 ok - 5000',
  }
  const runner = {
    run: ({ name }: StepCall, resendForMs: number) => {
      given.push([name, resendForMs])
      nowMs += stepMs
      return Promise.resolve(replies[name])
    },
    redisNowMs: () => nowMs,
    noteRedisTime: () => undefined,
  } as unknown as StepRunner
  const parts = {
    runner,
    jobIds: new JobIds(1, '0'.repeat(12)),
    logger: quietLogger,
    metrics: quietMetrics,
  }
  const intake = createJobIntake(createEngine(parts), {
    nowMs: () => nowMs,
  })
  return { intake, given: () => given.filter(([, ms]) => ms > 0) }
}

test('the steps of a push share its deadline', async () => {
  const { intake, given } = slowIntake(400)
  expect(await intake.push(newJob())).toMatchObject({ status: 'created' })
  expect(given()).toEqual([
    ['reserve_queue', STORE_DEADLINE_MS],
    ['reserve_ids', STORE_DEADLINE_MS - 400],
    ['enqueue', STORE_DEADLINE_MS - 800],
  ])
})

test('a push whose deadline passes before it can be written is not written', async () => {
  const { intake, given } = slowIntake(STORE_DEADLINE_MS / 2)
  await expect(intake.push(newJob())).rejects.toThrow(StoreUnavailableError)
  expect(given().map(([name]) => name)).toEqual(['reserve_queue', 'reserve_ids'])
})

/** Queues of either shard; the shard of `full` takes no more of them. */
const A = 'emails'
const B = 'bills'
const FULL = 'full2'

/** An intake on two shards whose steps `answer` answers, by step and shard. */
function scriptedIntake(answer: (name: string, shard: number) => Promise<unknown>) {
  const runner = {
    run: ({ name, keys, args }: StepCall) => {
      if (name === 'reserve_ids') return Promise.resolve('0')
      if (name === 'reserve_queue') return Promise.resolve(args[0] === `default/${FULL}` ? '' : '2')
      return answer(name, keys[0] === engine.shards[0]?.clock ? 0 : 1)
    },
    read: () => Promise.resolve(null),
    redisNowMs: () => 5_000,
    noteRedisTime: () => undefined,
  } as unknown as StepRunner
  const jobIds = new JobIds(2, '0'.repeat(12))
  const engine = createEngine({ runner, jobIds, logger: quietLogger, metrics: quietMetrics })
  const shardsOf = [A, FULL, B].map((queue) => shardOfQueue(engine, 'default', queue).shard)
  return { intake: createJobIntake(engine, { nowMs: () => 5_000 }), jobIds, shardsOf }
}

const jobsOf = (queues: readonly string[]) => queues.map((queue) => newJob({ queue }))

test('a failing shard takes no answer from pushes that have one or that another shard still writes', async () => {
  const fault = new Error('a connection was lost')
  const hasFailed = Promise.withResolvers<undefined>()
  const isWritten = Promise.withResolvers<string>()
  const { intake, jobIds, shardsOf } = scriptedIntake((_, shard) => {
    if (shard === 1) return isWritten.promise
    hasFailed.resolve(undefined)
    return Promise.reject(fault)
  })
  expect(shardsOf).toEqual([0, 0, 1])
  const ends = intake.pushAll(jobsOf([B, FULL, FULL, A, B]))
  await hasFailed.promise
  // What the failure leads to runs before the next turn.
  await new Promise((resolve) => setImmediate(resolve))
  isWritten.resolve('5000 0 2 ok - 5000')
  const created = { status: 'created', scheduledAtMs: 5_000 }
  const full = { status: 'too_many_queues' }
  expect(await ends).toMatchObject([
    { ...created, jobId: jobIds.idOf(1, 1, 1) },
    full,
    full,
    { status: 'failed', fault },
    { ...created, jobId: jobIds.idOf(1, 2, 1) },
  ])
})

test('a push that was put back is answered by the next flush, although its own fails', async () => {
  // The first answer lacks the second push.
  const replies = ['5000 0 1 moved - 0', '5000 0 1 ok - 5000']
  const { intake } = scriptedIntake(() => Promise.resolve(replies.shift()))
  expect(await intake.pushAll(jobsOf([A, A]))).toMatchObject([{ status: 'created' }, { status: 'failed' }])
  expect(replies).toEqual([])
})
