import { expect, test } from 'vitest'
import { StoreUnavailableError } from '../../../../src/domain/errors.ts'
import { JobIds } from '../../../../src/domain/jobs/job-ids.ts'
import { STORE_DEADLINE_MS } from '../../../../src/domain/limits.ts'
import { createEngine } from '../../../../src/redis/client/engine.ts'
import { createJobIntake } from '../../../../src/redis/enqueue/job-intake.ts'
import type { StepRunner } from '../../../../src/redis/client/step-runner.ts'
import type { StepCall } from '../../../../src/redis/client/step.ts'
import { newJob } from '../../../support/engine/engine.ts'
import { quietLogger, quietMetrics } from '../../../support/quiet.ts'

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
