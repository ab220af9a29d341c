import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startInstallation, type Installation } from '../../support/engine/installation.ts'
import { hang, latch } from '../../support/targets/target.ts'

let here: Installation
let url: string

beforeAll(async () => {
  here = await startInstallation()
  url = here.target.url
})
afterAll(() => here.close())

/** A path of the target that no other test uses. */
let paths = 0
const newPath = () => `/outcome-${(paths += 1)}`

describe.concurrent('a job', () => {
  test('fails at its own timeout, over the whole exchange', async () => {
    const path = newPath()
    here.target.route(path, hang)
    const { job_id: id } = await here.client.push({
      queue: 'timeout',
      url: url + path,
      timeout_seconds: 1,
      retries_enabled: false,
    })
    const job = await here.client.ended(id)
    expect(job).toMatchObject({ failure_reason: 'timeout', response_status: null })
    expect(job.duration_ms).toBeGreaterThanOrEqual(990)
    // Not the 30 s of the queue.
    expect(job.duration_ms).toBeLessThan(10_000)
    expect(here.target.arrivals(path)).toMatchObject([{ wasAnswered: false }])
  })

  test('does not follow a redirect: that is a failure', async () => {
    const path = newPath()
    here.target.route(path, () => ({ status: 302, headers: { location: `${url}${path}-elsewhere` } }))
    const { job_id: id } = await here.client.push({
      queue: 'redirect',
      url: url + path,
      retries_enabled: false,
    })
    expect(await here.client.ended(id)).toMatchObject({
      failure_reason: 'http_redirect',
      response_status: 302,
    })
    expect(here.target.arrivals(`${path}-elsewhere`)).toEqual([])
  })

  test('fails when nobody listens', async () => {
    const { job_id: id } = await here.client.push({
      queue: 'refused',
      url: 'http://127.0.0.1:1/',
      retries_enabled: false,
    })
    expect(await here.client.ended(id)).toMatchObject({
      failure_reason: 'connection_error',
      response_status: null,
      calls: [{ response: null }],
    })
  })

  test.for([
    { assertion: { type: 'status_code_equals', value: '201' }, good: { status: 201 }, bad: { status: 200 } },
    {
      assertion: { type: 'body_contains', value: 'all fine' },
      good: { body: 'it is all fine here' },
      bad: {},
    },
  ] as const)('is judged by $assertion.type', async ({ assertion, good, bad }) => {
    const path = newPath()
    here.target.route(`${path}/good`, () => good)
    here.target.route(`${path}/bad`, () => bad)
    const queue = `assert-${assertion.type}`
    await here.client.makeQueue(queue, { success_assertions: [assertion], retries_enabled: false })
    const passes = await here.client.push({ queue, url: `${url}${path}/good` })
    const breaks = await here.client.push({ queue, url: `${url}${path}/bad` })
    expect(await here.client.ended(passes.job_id)).toMatchObject({ final_status: 'success' })
    expect(await here.client.ended(breaks.job_id)).toMatchObject({
      final_status: 'failed_no_retries',
      failure_reason: 'assertion_failed',
      response_status: 200,
    })
  })

  test('is judged by response_time_under_ms', async () => {
    const path = newPath()
    const held = latch()
    here.target.route(`${path}/slow`, held.answering)
    await here.client.makeQueue('assert-slow', {
      success_assertions: [{ type: 'response_time_under_ms', value: 50 }],
      retries_enabled: false,
    })
    await here.client.makeQueue('assert-quick', {
      success_assertions: [{ type: 'response_time_under_ms', value: 60_000 }],
      retries_enabled: false,
    })
    const slow = await here.client.push({ queue: 'assert-slow', url: `${url}${path}/slow` })
    const quick = await here.client.push({ queue: 'assert-quick', url: `${url}${path}/quick` })
    const [arrival] = await here.target.arrived(`${path}/slow`)
    setTimeout(held.open, 60 - (Date.now() - (arrival?.arrivedAtMs ?? 0)))
    expect(await here.client.ended(slow.job_id)).toMatchObject({ failure_reason: 'assertion_failed' })
    expect(await here.client.ended(quick.job_id)).toMatchObject({ final_status: 'success' })
  })
})

test('a name that resolves to a blocked address fails the attempt; a literal is refused at the door', async () => {
  const blocked = await startInstallation({
    apiEnv: { PUNCTUAL_EGRESS_ALLOW: 'localhost' },
    executorEnv: { PUNCTUAL_EGRESS_ALLOW: 'localhost', PUNCTUAL_EGRESS_DENY: '127.0.0.0/8,::1/128' },
  })
  const { port } = new URL(blocked.target.url)
  const literal = await blocked.client.send('POST', '/api/jobs', {
    queue: 'a',
    url: `http://127.0.0.1:${port}/`,
  })
  const { job_id: id } = await blocked.client.push({
    queue: 'a',
    url: `http://localhost:${port}/`,
    callback_url: `http://localhost:${port}/cb`,
    retries_enabled: false,
  })
  const job = await blocked.client.ended(id)
  await blocked.close()
  expect(literal).toMatchObject({
    status: 422,
    body: { errors: { url: ['The url field must not point to a blocked address.'] } },
  })
  expect(job).toMatchObject({ failure_reason: 'dns_error', response_status: null })
  expect(job.error_message).not.toMatch(/\d+\.\d+\.\d+/)
  expect(blocked.target.arrivals()).toEqual([])
})
