/** An installation for tests, as a user's tests drive it: nothing here waits for the real time that is skipped. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ApiClient } from '../../../support/servers/api-client.ts'
import { runProgram, stopProgram, type Program } from '../../../support/servers/processes.ts'
import { createStandaloneWorld, settingsOf } from '../../../support/servers/standalone-world.ts'
import type { Target } from '../../../support/targets/target.ts'
import { statuses } from '../../../support/targets/target.ts'
import { until } from '../../../support/until.ts'

const FOR_TESTS = { PUNCTUAL_TEST_CLOCK: '1' }
const DAY_SECONDS = 86_400
/** How long a test may take by the real time, which signatures and the clock of the target go by. */
const REAL_MS_MAX = 600_000

interface TestTime {
  readonly now: string
  readonly ahead_seconds: number
}
interface Job {
  readonly job_id: number
  readonly status: string
  readonly final_status: string | null
  readonly scheduled_at: string
  readonly chain: readonly Job[]
}

const world = createStandaloneWorld()
let folder = ''
let program: Program
let client: ApiClient
let target: Target

beforeAll(async () => {
  folder = world.newFolder()
  target = await world.newTarget()
  ;({ program, client } = await world.start(folder, FOR_TESTS))
}, 90_000)
afterAll(() => world.close())

async function send<Body>(method: string, path: string, body?: object): Promise<Body> {
  const answer = await client.send<never>(method, path, body)
  expect([200, 201], JSON.stringify(answer.body)).toContain(answer.status)
  return answer.body
}

const clock = () => send<TestTime>('GET', '/api/test/clock')
const advance = (body: object) => send<TestTime>('POST', '/api/test/clock', body)

async function jobOnceIt(id: number, is: (job: Job) => boolean): Promise<Job> {
  return until('the job is as it should be', async () => {
    const job = await send<Job>('GET', `/api/jobs/${id}`)
    return is(job) && job
  })
}

test('delay and retry are skipped, and each attempt stands at its due time', async () => {
  target.route('/retry', statuses(503, 200))
  const pushed = await send<Job>('POST', '/api/jobs', {
    queue: 'skipped',
    url: `${target.url}/retry`,
    delay: DAY_SECONDS,
    retry_delays: [6 * 3600],
  })
  const before = await clock()
  const after = await advance({ advance_seconds: DAY_SECONDS })
  expect(after.ahead_seconds - before.ahead_seconds).toBe(DAY_SECONDS)

  const failed = await jobOnceIt(pushed.job_id, ({ chain }) => chain.length === 2)
  const retryAt = failed.chain[1]?.scheduled_at ?? ''
  expect(Date.parse(retryAt) - Date.parse(pushed.scheduled_at)).toBeGreaterThanOrEqual(6 * 3600 * 1000)
  await advance({ advance_to: retryAt })
  await jobOnceIt(pushed.job_id, ({ final_status: end }) => end === 'success')
}, 120_000)

test('nothing begins before its time', async () => {
  target.route('/early', statuses(200))
  const { job_id: id } = await send<Job>('POST', '/api/jobs', {
    queue: 'early',
    url: `${target.url}/early`,
    delay: 3600,
  })
  await advance({ advance_seconds: 1800 })
  // What is due at the new time is called; the other job still waits then.
  const { job_id: now } = await send<Job>('POST', '/api/jobs', { queue: 'now', url: `${target.url}/early` })
  await jobOnceIt(now, ({ status }) => status === 'completed')
  expect((await send<Job>('GET', `/api/jobs/${id}`)).status).toBe('pending')
}, 120_000)

test('a cron runs at a tick that lies months ahead', async () => {
  target.route('/cron', statuses(200))
  const { id, next_run_at: next } = await send<{ id: number; next_run_at: string }>('POST', '/api/crons', {
    name: 'yearly',
    url: `${target.url}/cron`,
    cron_expression: '0 9 1 1 *',
  })
  expect(Date.parse(next)).toBeGreaterThan(Date.parse((await clock()).now))
  await advance({ advance_to: next })
  const run = await until('the cron has run', async () => {
    const cron = await send<{ last_run: object | null; next_run_at: string }>('GET', `/api/crons/${id}`)
    return cron.last_run !== null && cron
  })
  expect(run.next_run_at.slice(0, 4)).toBe(String(Number(next.slice(0, 4)) + 1))
}, 120_000)

test('signatures go by the real time, by which receivers judge them', async () => {
  await advance({ advance_seconds: 30 * DAY_SECONDS })
  target.route('/signed', statuses(200))
  const { job_id: id } = await send<Job>('POST', '/api/jobs', {
    queue: 'signed',
    url: `${target.url}/signed`,
  })
  await jobOnceIt(id, ({ status }) => status === 'completed')
  const [call] = target.arrivals('/signed')
  const signedAtMs = Number(call?.headers['webhook-timestamp']) * 1000
  expect(Math.abs(Date.now() - signedAtMs)).toBeLessThan(REAL_MS_MAX)
}, 120_000)

test('the time is told where one looks: in the state, on the page and in each line of the log', async () => {
  const { test_clock: told } = await send<{ test_clock: TestTime }>('GET', '/api/status')
  expect(told.ahead_seconds).toBe((await clock()).ahead_seconds)
  const { url } = await program.logged('Standalone runs')
  const page = await fetch(String(url), { headers: { accept: 'text/html' } })
  if (page.status === 200) expect(await page.text()).toContain(' data-test-clock')
  const { level } = await program.logged('The time is that of a test clock: this installation is for tests')
  expect(level).toBe('warn')
  expect(program.log.filter(({ testClock }) => testClock !== true)).toEqual([])
  expect(program.log.filter(({ msg }) => msg.startsWith('The clock of Redis'))).toEqual([])
})

test('the doctor has nothing against a time that was moved', async () => {
  await advance({ advance_seconds: DAY_SECONDS })
  const doctor = runProgram(['doctor', '--json'], settingsOf(folder))
  await doctor.exited
  const { checks } = JSON.parse([...doctor.strayLines].join('\n')) as {
    checks: Array<{ name: string; status: string; summary: string }>
  }
  const clockCheck = checks.find(({ name }) => name === 'clock')
  expect(clockCheck).toMatchObject({ status: 'ok', summary: expect.stringContaining('test clock') as string })
  expect(checks.filter(({ status }) => status !== 'ok')).toEqual([])
}, 120_000)

test.each([
  [{}, 'advance_seconds'],
  [{ advance_seconds: 1, advance_to: '2199-01-01T00:00:00Z' }, 'advance_to'],
  [{ advance_seconds: 0 }, 'advance_seconds'],
  [{ advance_seconds: 366 * DAY_SECONDS + 1 }, 'advance_seconds'],
  [{ advance_to: '2020-01-01T00:00:00Z' }, 'advance_to'],
  [{ advance_to: 'tomorrow' }, 'advance_to'],
])('%j moves nothing', async (body, field) => {
  const before = await clock()
  const refused = await client.send<{ errors: object }>('POST', '/api/test/clock', body)
  expect([refused.status, Object.keys(refused.body.errors)]).toEqual([422, [field]])
  expect((await clock()).ahead_seconds).toBe(before.ahead_seconds)
})

test('the time goes on after a restart, and an installation keeps its kind of time', async () => {
  const before = await advance({ advance_seconds: 3600 })
  await stopProgram(program)
  const real = world.run(folder)
  expect(await real.exited).toMatchObject({ code: 2 })
  expect(real.errorLines.join('\n')).toContain(
    'goes by a test clock: set PUNCTUAL_TEST_CLOCK=1, or use another',
  )
  ;({ program, client } = await world.start(folder, FOR_TESTS))
  const after = await clock()
  expect(after.ahead_seconds).toBe(before.ahead_seconds)
  expect(Date.parse(after.now)).toBeGreaterThanOrEqual(Date.parse(before.now))
}, 120_000)

test('an installation of the real time has no test clock, and gets none', async () => {
  const other = world.newFolder()
  const started = await world.start(other)
  expect((await started.client.send('GET', '/api/test/clock')).status).toBe(404)
  const moved = await started.client.send('POST', '/api/test/clock', { advance_seconds: 1 })
  expect(moved.status).toBe(404)
  expect((await started.client.send<object>('GET', '/api/status')).body).not.toHaveProperty('test_clock')
  await stopProgram(started.program)
  const refused = world.run(other, FOR_TESTS)
  expect(await refused.exited).toMatchObject({ code: 2 })
  expect(refused.errorLines.join('\n')).toContain(
    'goes by the real time, and PUNCTUAL_TEST_CLOCK would move its jobs',
  )
}, 120_000)
