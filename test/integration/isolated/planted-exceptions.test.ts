/**
 * Whatever pure function throws over one team, another team's jobs and ticks go on, once each, while the pool is full: the
 * rule of docs/architecture.md, "What may throw, and what it may stop". Which functions there are is found by a run in
 * which none throws, so a new one is planted as soon as a step calls it about a team.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { MaintenanceWindow } from '../../../src/domain/windows/maintenance-window.ts'
import type { CronWorld } from '../../support/engine/cron-world.ts'
import { startRedis, type TestRedis } from '../../support/servers/redis-server.ts'
import { startTarget, type Target } from '../../support/targets/target.ts'
import { until } from '../../support/until.ts'
import { BAD_STATUS, BAD_TEAM, BAD_ZONE, exceptions, wrapPure } from './planted.ts'

wrapPure()
const { openCronWorld } = await import('../../support/engine/cron-world.ts')
const { createJobIntake } = await import('../../../src/redis/jobs/enqueue/job-intake.ts')
const { WindowsInForce } = await import('../../../src/redis/control/compiled/windows-in-force.ts')
const { SetAside } = await import('../../../src/domain/set-aside.ts')
const { newJob } = await import('../../support/engine/engine.ts')
const { cronSettings } = await import('../../support/engine/cron-settings.ts')
const { quietLogger, quietMetrics } = await import('../../support/quiet.ts')

const MINUTE_MS = 60_000
const START_MS = Date.UTC(2032, 1, 28, 12)
const GOOD_TEAM = 'goodteam'
const JOBS = { good: 150, bad: 60 }
const ROUND_MS_MAX = 20_000

const OF_ALL = 'is given the jobs of all teams at once, and calls what is planted for each of them'
/** Functions in which none is planted, by the reason. */
const EXCUSED: Readonly<Record<string, string>> = {
  'redis/jobs/execute/claim/claim-reply.ts readClaim': OF_ALL,
  'redis/jobs/execute/finish/batch-job.ts jobRows': OF_ALL,
  'redis/jobs/execute/finish/batch-job.ts orderByClaim': OF_ALL,
  'redis/jobs/execute/finish/batch-job.ts queuesOf': OF_ALL,
}

let redis: TestRedis
let target: Target
let world: CronWorld
let round = 0

beforeAll(async () => {
  ;[redis, target] = await Promise.all([startRedis(), startTarget()])
  world = await openCronWorld(redis, START_MS)
  const settings = { cronExpression: '* * * * *', alertsEnabled: true }
  await world.store.apply(GOOD_TEAM, 'ticks', cronSettings({ ...settings, url: `${target.url}/good-tick` }))
  const bad = { ...settings, timeZone: BAD_ZONE, url: `${target.url}/${BAD_TEAM}-tick` }
  for (const name of ['ticks', 'held', 'muted'])
    await world.store.apply(
      BAD_TEAM,
      name,
      cronSettings({ ...bad, name } as Parameters<typeof cronSettings>[0]),
    )
})
afterAll(async () => {
  exceptions.plant(null)
  await world.stopExecutors()
  await world.close()
  await Promise.all([redis.stop(), target.close()])
})

/** The minute round calls these, which comes in few rounds of this test. */
const MET_BY_CHANCE: ReadonlySet<string> = new Set([
  'redis/base/layout/statistics/statistics-log.ts ownerOfQueue',
  'redis/base/layout/statistics/statistics-log.ts ownerOfTeam',
])

/** Windows of both teams that mute, and one of the bad team that holds a cron. They are read anew in each round. */
function windows(): InstanceType<typeof WindowsInForce> {
  const always = (timeZone: string): MaintenanceWindow['times'] => ({
    kind: 'recurring',
    schedules: [{ cronExpression: '0 * * * *', timeZone, durationSeconds: 1_800 }],
  })
  const held = { kind: 'cron', name: 'held' } as const
  const all: MaintenanceWindow[] = [
    { team: BAD_TEAM, name: 'mute', action: 'mute', resource: null, times: always(BAD_ZONE), reason: null },
    { team: BAD_TEAM, name: 'hold', action: 'hold', resource: held, times: always(BAD_ZONE), reason: null },
    { team: GOOD_TEAM, name: 'mute', action: 'mute', resource: null, times: always('UTC'), reason: null },
  ]
  const setAside = new SetAside('window', { logger: quietLogger, metrics: quietMetrics })
  return new WindowsInForce(all, { setAside })
}

/** Jobs of both teams and a tick of their crons, on two executors; answers what the good team lacks or has twice. */
async function play(planted: string | null): Promise<string[]> {
  round += 1
  const [goodPath, badPath] = [`/good/${round}`, `/${BAD_TEAM}/${round}`]
  target.route(badPath, () => ({ status: BAD_STATUS }))
  const ticksBefore = target.arrivals('/good-tick').length
  world.setTime(START_MS + round * MINUTE_MS - 600)
  const intake = createJobIntake(world.engine, { nowMs: () => performance.now() })
  const push = (team: string, path: string, count: number) =>
    Array.from({ length: count }, (_, i) =>
      intake.push(newJob({ team, queue: `q${i % 3}`, request: { url: target.url + path } })),
    )
  await Promise.all([...push(BAD_TEAM, badPath, JOBS.bad), ...push(GOOD_TEAM, goodPath, JOBS.good)])
  exceptions.plant(planted)
  exceptions.watch(true)
  world.startExecutor(windows())
  world.startExecutor(windows())
  const arrived = () => target.arrivals(goodPath)
  const ticks = () => target.arrivals('/good-tick').length - ticksBefore
  // Where nothing is planted, the bad team's jobs end as well, so that all functions are met.
  const badRuns = () =>
    planted === null ? target.arrivals(badPath).length >= JOBS.bad : exceptions.thrown > 0
  const isDone = () => arrived().length >= JOBS.good && ticks() >= 1 && badRuns()
  await until('the good team has run', isDone, ROUND_MS_MAX).catch(() => undefined)
  const { thrown } = exceptions
  await world.stopExecutors()
  exceptions.watch(false)
  exceptions.plant(null)
  const ids = new Set(arrived().map(({ jobId }) => jobId))
  const wrong: string[] = []
  if (planted !== null && thrown === 0) wrong.push('it did not throw')
  if (ids.size !== JOBS.good) wrong.push(`${ids.size} jobs of ${JOBS.good} were called`)
  if (arrived().length !== ids.size) wrong.push(`${arrived().length} calls of ${ids.size} jobs`)
  if (ticks() !== 1) wrong.push(`${ticks()} ticks`)
  return wrong
}

test(
  "no exception over one team stops another's jobs and ticks, or makes them twice",
  { timeout: 400_000 },
  async () => {
    expect(await play(null)).toEqual([])
    const functions = exceptions.seen()
    expect(functions.length).toBeGreaterThan(20)
    expect(Object.keys(EXCUSED).filter((name) => !functions.includes(name))).toEqual([])
    const faults: string[] = []
    for (const name of functions) {
      if (EXCUSED[name] !== undefined || MET_BY_CHANCE.has(name)) continue
      const wrong = await play(name)
      if (wrong.length > 0) faults.push(`${name}: ${wrong.join(', ')}`)
    }
    expect(faults).toEqual([])
  },
)
