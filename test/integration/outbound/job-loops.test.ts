import { afterAll, beforeAll, expect, test } from 'vitest'
import type { CronRunList } from '../../../clients/typescript/src/generated/wire.ts'
import { CALL_DEPTH_MAX } from '../../../src/domain/limits.ts'
import { startInstallation, TOKEN, type Installation } from '../../support/engine/installation.ts'
import { until } from '../../support/until.ts'

let here: Installation
let api: string

beforeAll(async () => {
  here = await startInstallation()
  api = here.api.url
})
afterAll(() => here.close())

const DEPTH = 'x-punctual-depth'
const headers = { authorization: `Bearer ${TOKEN}` }

let paths = 0
const newPath = () => `/loop-${(paths += 1)}`
const depthsAt = async (path: string, count = 1) =>
  (await here.target.arrived(path, count)).map((arrival) => arrival.headers[DEPTH])

type Push = Readonly<Record<string, unknown>>

/** A push of a job that pushes a job …, so often, with a call of the target at its end. */
function nested(times: number, path: string, place: string, wrap: (push: Push) => unknown): Push {
  const job = { queue: `nested-${path.slice(1)}`, retries_enabled: false }
  if (times === 0) return { ...job, url: here.target.url + path }
  return { ...job, url: api + place, headers, payload: wrap(nested(times - 1, path, place, wrap)) }
}

test.each<[string, (push: Push) => unknown]>([
  ['/api/jobs', (push) => push],
  ['/api/jobs/batch', (push) => ({ jobs: [push] })],
])('jobs push jobs at %s only so deep', async (place, wrap) => {
  const path = newPath()
  const most = nested(CALL_DEPTH_MAX - 1, path, place, wrap)
  await here.client.push(most)
  expect(await depthsAt(path)).toEqual([String(CALL_DEPTH_MAX)])
  const beyond = newPath()
  await here.client.push(nested(CALL_DEPTH_MAX, beyond, place, wrap))
  const filter = { queue: `nested-${beyond.slice(1)}`, response_status: '403' }
  await expect.poll(async () => (await here.client.jobs(filter)).jobs.length, { timeout: 20_000 }).toBe(1)
  expect(here.target.arrivals(beyond)).toEqual([])
})

test('a cron that runs itself comes to an end', async () => {
  const wanted = { name: 'Loop', url: api, cron_expression: '0 0 1 1 *', is_active: false, headers }
  const made = await here.client.send<{ id: number }>('POST', '/api/crons', wanted)
  const path = `/api/crons/${made.body.id}`
  const edit = { url: `${api}${path}/run`, success_assertions: [] }
  expect(await here.client.send('PATCH', path, edit)).toMatchObject({ status: 200 })
  expect(await here.client.send('POST', `${path}/run`)).toMatchObject({ status: 201 })
  const runs = async () => (await here.client.send<CronRunList>('GET', `${path}/runs`)).body.runs
  await expect
    .poll(async () => (await runs()).map(({ result }) => result), { timeout: 20_000 })
    .toContain('failed')
  expect(await runs()).toHaveLength(CALL_DEPTH_MAX)
})

test('whatever makes a job of another one keeps count', async () => {
  const path = newPath()
  here.target.route(path, () => ({ status: 500 }))
  const target = { queue: 'copies', url: here.target.url + path, retries_enabled: false }
  const dead = async () => {
    const { job_id: id } = await here.client.push({ ...target, retries_enabled: true, retry_delays: [1] })
    await here.client.ended(id, 20_000)
    return id
  }
  const { job_id: failed } = await here.client.push(target)
  await here.client.ended(failed)
  const [one, other] = await Promise.all([dead(), dead()])
  const at = async (callDepth: string, place: string, body?: unknown) =>
    here.client.send('POST', place, body, { [DEPTH]: callDepth })
  /** Retries of a replayed job, which keep its depth, may come in between. */
  const isCalled = (depth: string) =>
    until(`a call of depth ${depth}`, () =>
      here.target.arrivals(path).some((arrival) => arrival.headers[DEPTH] === depth),
    )
  expect(here.target.arrivals(path).every((arrival) => arrival.headers[DEPTH] === '1')).toBe(true)
  expect(await at('2', `/api/jobs/${failed}/duplicate`)).toMatchObject({ status: 201 })
  await isCalled('3')
  expect(await at('3', `/api/jobs/${failed}/retry`)).toMatchObject({ status: 201 })
  await isCalled('4')
  expect(await at('4', `/api/jobs/${one}/replay`)).toMatchObject({ status: 201 })
  await isCalled('5')
  expect(await at('1', '/api/bulk', { action: 'replay', ids: [other] })).toMatchObject({ status: 202 })
  await isCalled('2')
})

test.each(['5', '999', '1000', '-1', 'x', '1, 1'])(
  'call depth %s is too deep for all but reading',
  async (callDepth) => {
    const deep = { [DEPTH]: callDepth }
    const push = { queue: 'deep', url: here.target.url }
    const text = 'A job may not call this API here: 5 jobs in a row have made each other by such calls'
    for (const [method, place, body] of [
      ['POST', '/api/jobs', push],
      ['POST', '/api/jobs/batch', { jobs: [push] }],
      ['POST', '/api/jobs/1/retry', undefined],
      ['POST', '/api/bulk', { action: 'replay', ids: [1] }],
      ['DELETE', '/api/queues/1', undefined],
    ] as const) {
      expect(await here.client.send(method, place, body, deep)).toMatchObject({
        status: 403,
        body: { error: text },
      })
    }
    expect(await here.client.send('GET', '/api/queues', undefined, deep)).toMatchObject({ status: 200 })
  },
)
