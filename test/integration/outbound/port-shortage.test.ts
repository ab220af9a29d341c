import { afterAll, beforeAll, expect, test } from 'vitest'
import { EgressGuard } from '../../../src/outbound/egress/egress-guard.ts'
import { createHttpCaller } from '../../../src/outbound/http-caller.ts'
import { createSocketOpener, type OpenSocket } from '../../../src/outbound/connections/socket-opener.ts'
import { createJobIntake } from '../../../src/redis/jobs/enqueue/job-intake.ts'
import { createJobStore } from '../../../src/redis/jobs/job-store.ts'
import { systemClock } from '../../../src/telemetry/system-clock.ts'
import { openCronWorld } from '../../support/engine/cron-world.ts'
import { newJob } from '../../support/engine/engine.ts'
import { createFakeClock } from '../../support/fake-clock.ts'
import { startRedis, type TestRedis } from '../../support/servers/redis-server.ts'
import { startTarget, type Target } from '../../support/targets/target.ts'
import { until } from '../../support/until.ts'
import { createRecordingLogger, createRecordingMetrics } from '../../unit/executor/executor-fixture.ts'

let redis: TestRedis
let target: Target

beforeAll(async () => {
  ;[redis, target] = await Promise.all([startRedis(), startTarget()])
})
afterAll(async () => {
  await Promise.all([redis.stop(), target.close()])
})

test('a target without free ports fails its own calls, and no claim rests for it', async () => {
  // The calls wait by this clock, so that they stand still while the others run.
  const clock = createFakeClock()
  const logger = createRecordingLogger()
  const metrics = createRecordingMetrics()
  const openReal = createSocketOpener(systemClock, [])
  let looks = 0
  const openSocket: OpenSocket = (to, events) => {
    if (to.addresses[0] !== '127.0.0.2') return openReal(to, events)
    looks += 1
    const error = Object.assign(new Error('connect EADDRNOTAVAIL'), {
      code: 'EADDRNOTAVAIL',
      address: '127.0.0.2',
    })
    queueMicrotask(() => events.onError(error))
    return () => undefined
  }
  const caller = createHttpCaller({
    egress: new EgressGuard({
      allow: ['127.0.0.0/8'],
      deny: [],
      allowable: null,
      clusterCidrs: [],
      ownHosts: [],
    }),
    clock,
    logger,
    version: '0.0.0',
    openSocket,
  })
  const world = await openCronWorld(redis, Date.now(), { caller, metrics })
  const intake = createJobIntake(world.engine, {
    nowMs: () => systemClock.monotonicMs(),
  })
  const push = async (team: string, url: string) => {
    const pushed = await intake.push(newJob({ team, request: { url, retriesEnabled: false } }))
    if (!('jobId' in pushed)) throw new Error(pushed.status)
    return pushed.jobId
  }
  world.startExecutor()

  const full = await Promise.all(Array.from({ length: 5 }, () => push('full', 'http://127.0.0.2:9/')))
  await until('all of them are held', () => metrics.open() === full.length)
  await Promise.all(Array.from({ length: 20 }, () => push('other', `${target.url}/other`)))
  await target.arrived('/other', 20)
  expect(metrics.open()).toBeGreaterThanOrEqual(full.length)

  await clock.advance(1_000)
  const jobs = createJobStore(world.engine)
  for (const jobId of full) {
    await until('it has failed', async () => (await jobs.get('full', jobId))?.end === 'failed_no_retries')
    expect((await jobs.get('full', jobId))?.attempts).toMatchObject([
      {
        failureReason: 'connection_error',
        errorMessage: 'This machine has no free port for a connection to the target.',
      },
    ])
  }
  expect(looks).toBeLessThanOrEqual(2 * full.length)
  expect(metrics.counts.filter((count) => count.startsWith('jobFinished:released'))).toEqual([])
  expect(logger.lines.map(({ fields }) => fields)).toEqual([{ calls: 1, port: 9, addresses: ['127.0.0.2'] }])
  await world.close()
})
