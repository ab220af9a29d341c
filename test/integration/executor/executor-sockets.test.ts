import { expect, test } from 'vitest'
import { startInstallation } from '../../support/engine/installation.ts'
import { latch } from '../../support/targets/target.ts'
import { until } from '../../support/until.ts'

/** More than the default number of sockets per target. */
const SLOW_CALLS = 1_060

test('a slow target takes as many calls as the executor may make, and delays no other queue', async () => {
  const here = await startInstallation({ executorEnv: { PUNCTUAL_EXECUTOR_CONCURRENCY: '1100' } })
  const held = latch()
  here.target.route('/slow', held.answering)
  const push = (queue: string) =>
    here.client.push({ queue, url: `${here.target.url}/${queue}`, timeout_seconds: 300 })
  for (let pushed = 0; pushed < SLOW_CALLS; pushed += 106) {
    await Promise.all(Array.from({ length: 106 }, () => push('slow')))
  }
  await here.target.arrived('/slow', SLOW_CALLS, 60_000)
  await push('other')
  await here.target.arrived('/other')
  expect(here.target.openNow()).toBeGreaterThanOrEqual(SLOW_CALLS)
  held.open()
  await until('all calls have ended', () => here.target.openNow() === 0)
  await here.close()
})
