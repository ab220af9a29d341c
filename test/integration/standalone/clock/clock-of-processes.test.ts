/** An installation for tests whose roles are processes of their own, as in a cluster: each follows what one moves. */
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeKeptFolder } from '../../../support/engine/kept-folder.ts'
import { type ApiClient, createApiClient } from '../../../support/servers/api-client.ts'
import { type Program, runProgram, stopProgram } from '../../../support/servers/processes.ts'
import { startRedis, type TestRedis } from '../../../support/servers/redis-server.ts'
import { startTarget, type Target } from '../../../support/targets/target.ts'
import { until } from '../../../support/until.ts'

const DAY_SECONDS = 86_400
/** How long a test may take by the real time, which signatures go by. */
const REAL_MS_MAX = 600_000
const TOKEN = 'token-of-team-default'
const LOST = 'The lease of a shard was lost; its calls are aborted and their results discarded'

interface TestTime {
  readonly now: string
  readonly ahead_seconds: number
}

let redis: TestRedis
let target: Target
let programs: Program[] = []
let apis: ApiClient[] = []
let env: Record<string, string>

beforeAll(async () => {
  ;[redis, target] = await Promise.all([startRedis(), startTarget()])
  env = {
    PUNCTUAL_REDIS_URL: redis.url,
    PUNCTUAL_SECRETS_KEY: randomBytes(32).toString('base64'),
    PUNCTUAL_EGRESS_ALLOW: '127.0.0.0/8',
    PUNCTUAL_PORT: '0',
    PUNCTUAL_OPS_PORT: '0',
    PUNCTUAL_TEST_CLOCK: 'true',
  }
  const folder = makeKeptFolder()
  const startApi = () => runProgram(['api'], { ...env, ...folder.env(), PUNCTUAL_TOKEN: TOKEN })
  const servers = [startApi(), startApi()]
  const executors = [runProgram(['executor'], env), runProgram(['executor'], env)]
  programs = [...servers, ...executors]
  const urls = await Promise.all(servers.map((api) => api.logged('The API listens')))
  apis = urls.map(({ url }) => createApiClient(String(url), TOKEN))
  await Promise.all(executors.map((executor) => executor.logged('The executor holds its leases')))
}, 120_000)
afterAll(async () => {
  await Promise.all(programs.map((program) => stopProgram(program)))
  await target?.close()
  await redis?.stop()
})

async function send<Body>(
  api: ApiClient | undefined,
  method: string,
  path: string,
  body?: object,
): Promise<Body> {
  const answer = await (api as ApiClient).send<Body>(method, path, body)
  expect([200, 201], JSON.stringify(answer.body)).toContain(answer.status)
  return answer.body
}

test('what one API moves becomes due for executors and for the other API', async () => {
  const [first, second] = apis
  const later = { queue: 'later', url: `${target.url}/later`, delay: DAY_SECONDS }
  const { job_id: id } = await send<{ job_id: number }>(second, 'POST', '/api/jobs', later)
  const cron = { name: 'yearly', url: `${target.url}/cron`, cron_expression: '0 9 1 1 *' }
  const { next_run_at: next } = await send<{ next_run_at: string }>(second, 'POST', '/api/crons', cron)
  await send<TestTime>(first, 'POST', '/api/test/clock', { advance_seconds: DAY_SECONDS })
  await target.arrived('/later')
  expect((await second?.ended(id))?.final_status).toBe('success')
  await send<TestTime>(first, 'POST', '/api/test/clock', { advance_to: next })
  const [run] = await target.arrived('/cron')
  expect(Math.abs(Date.now() - Number(run?.headers['webhook-timestamp']) * 1000)).toBeLessThan(REAL_MS_MAX)
  const told = await send<TestTime>(second, 'GET', '/api/test/clock')
  expect(Date.parse(told.now)).toBeGreaterThanOrEqual(Date.parse(next))
  // Its own clock tells it what is past, such as a time that is too far ahead.
  await until('the other API goes by the new time', async () => {
    const run_at = new Date(Date.parse(next) + 365 * DAY_SECONDS * 1000).toISOString()
    const { status } =
      (await second?.send('POST', '/api/jobs', { queue: 'far', url: target.url, run_at })) ?? {}
    return status === 201
  })
}, 120_000)

test('calls in flight survive a move, and no executor loses its leases', async () => {
  const [first, second] = apis
  const opened = Promise.withResolvers<void>()
  target.route('/held', async () => {
    await opened.promise
    return { status: 200 }
  })
  const held = { queue: 'held', url: `${target.url}/held`, timeout_seconds: 300 }
  const { job_id: id } = await send<{ job_id: number }>(first, 'POST', '/api/jobs', held)
  await target.arrived('/held')
  await send<TestTime>(second, 'POST', '/api/test/clock', { advance_seconds: 30 * DAY_SECONDS })
  opened.resolve()
  expect((await first?.ended(id))?.final_status).toBe('success')
  expect(target.arrivals('/held')).toHaveLength(1)
  const log = programs.flatMap((program) => program.log)
  expect(log.filter(({ msg }) => msg === LOST)).toEqual([])
  expect(log.every((line) => line['testClock'] === true)).toBe(true)
}, 120_000)

test('a process that goes by the real time ends at its start', async () => {
  const { PUNCTUAL_TEST_CLOCK: _, ...real } = env
  const executor = runProgram(['executor'], real)
  expect((await executor.exited).code).not.toBe(0)
  expect(JSON.stringify([executor.log, executor.errorLines])).toContain('goes by a test clock')
}, 60_000)
