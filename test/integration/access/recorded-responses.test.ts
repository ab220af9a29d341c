/** Of queues and crons that record no responses, nothing that a target has answered is found anywhere. */
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { AlertList, Job, JobList } from '../../../clients/typescript/src/generated/wire.ts'
import { startInstallation, type Installation } from '../../support/engine/installation.ts'
import { keysWith } from '../../support/redis/keys-with.ts'
import { until } from '../../support/until.ts'

const ASSERTED = [{ type: 'body_contains', value: 'well done' }]

let here: Installation

beforeAll(async () => {
  here = await startInstallation()
})
afterAll(() => here.close())

/** A target at this path that answers the canary in all that a target can write. */
function answering(path: string, canary: string, status: number): string {
  here.target.route(path, () => ({
    status,
    headers: { 'x-canary': canary, 'set-cookie': `id=${canary}` },
    body: `well done: ${canary}`,
  }))
  return `${here.target.url}${path}`
}

async function send<T>(method: string, path: string, body?: unknown): Promise<T> {
  const answer = await here.client.send<T>(method, path, body)
  expect([path, answer.status]).toEqual([path, expect.toSatisfy((status: number) => status < 300)])
  return answer.body
}

/** That of the call of this job only the status is kept, and the canary nowhere. */
async function expectLeftOut(id: number, canary: string, status: number): Promise<Job> {
  const job = await send<Job>('GET', `/api/jobs/${id}`)
  expect(job.calls).toHaveLength(1)
  expect(job.calls[0]).toMatchObject({
    response: { status, is_recorded: false, headers: [], body: '', protocol_notes: [] },
    timings: { body_ms: expect.any(Number) as number },
  })
  expect(JSON.stringify(job)).not.toContain(canary)
  const found = await send<JobList>('GET', `/api/jobs?text=${canary}`)
  expect(found.jobs).toEqual([])
  expect(await keysWith(here.redis.client, canary)).toEqual([])
  const logs = [here.api.program, ...here.executors].map(({ log }) => JSON.stringify(log))
  expect(logs.join()).not.toContain(canary)
  return job
}

const canaryOf = (name: string) => `canary-${name}-${randomBytes(8).toString('hex')}`

test('a queue keeps nothing of an answer that its assertions have looked at', async () => {
  const canary = canaryOf('queue')
  const url = answering('/secretive', canary, 200)
  await send('POST', '/api/queues', {
    name: 'secretive',
    record_responses: 'none',
    success_assertions: ASSERTED,
  })
  const callback = `${here.target.url}/told`
  const pushed = await here.client.push({
    queue: 'secretive',
    url,
    payload: { asked: 'this' },
    callback_url: callback,
  })
  expect(await here.client.ended(pushed.job_id)).toMatchObject({ final_status: 'success' })
  const job = await expectLeftOut(pushed.job_id, canary, 200)
  expect(job.calls[0]?.request.body).toBe('{"asked":"this"}')
  const [told] = await here.target.arrived('/told')
  expect(told?.body).toContain('"status":"success"')
  expect(told?.body).not.toContain(canary)
})

test('nor of one that fails, or does not meet an assertion: alerts and errors quote nothing of it', async () => {
  const canary = canaryOf('failing')
  const url = answering('/refusing', canary, 500)
  await send('POST', '/api/queues', {
    name: 'refusing',
    record_responses: 'none',
    alerts_enabled: true,
    retries_enabled: false,
    success_assertions: [{ type: 'body_contains', value: 'not in it' }],
  })
  const failed = await here.client.push({ queue: 'refusing', url })
  await here.client.ended(failed.job_id)
  await expectLeftOut(failed.job_id, canary, 500)
  answering('/refusing', canary, 200)
  const broken = await here.client.push({ queue: 'refusing', url })
  expect(await here.client.ended(broken.job_id)).toMatchObject({ failure_reason: 'assertion_failed' })
  await expectLeftOut(broken.job_id, canary, 200)
  const alerts = await until('alerts are raised', async () => {
    const list = await send<AlertList>('GET', '/api/alerts')
    return list.alerts.length > 0 ? list : null
  })
  expect(JSON.stringify(alerts)).not.toContain(canary)
})

test.each([null, 'recording'])(
  'a cron keeps nothing in the queue %j, and nor does a copy of its run',
  async (queue) => {
    const canary = canaryOf('cron')
    const path = `/cron-${queue}`
    const cron = await send<{ id: number }>('POST', '/api/crons', {
      name: 'secretive',
      url: answering(path, canary, 200),
      cron_expression: '0 0 1 1 *',
      record_responses: 'none',
      queue,
    })
    const { job_id: id } = await send<{ job_id: number }>('POST', `/api/crons/${cron.id}/run`)
    await here.client.ended(id)
    const run = await expectLeftOut(id, canary, 200)
    expect(run).toMatchObject({ cron_id: cron.id, queue })
    const body = queue === null ? { queue: 'copies' } : {}
    const copy = await send<{ job_id: number }>('POST', `/api/jobs/${id}/duplicate`, body)
    await here.client.ended(copy.job_id)
    await expectLeftOut(copy.job_id, canary, 200)
  },
)

test('other queues and crons keep what was answered', async () => {
  const canary = canaryOf('kept')
  const pushed = await here.client.push({ queue: 'usual', url: answering('/usual', canary, 200) })
  await here.client.ended(pushed.job_id)
  const job = await send<Job>('GET', `/api/jobs/${pushed.job_id}`)
  expect(job.calls[0]?.response).toMatchObject({ is_recorded: true, body: `well done: ${canary}` })
  const found = await send<JobList>('GET', `/api/jobs?text=${canary}`)
  expect(found.jobs.map(({ job_id: id }) => id)).toEqual([pushed.job_id])
  expect(await keysWith(here.redis.client, canary)).not.toEqual([])
})

test('an edit holds for new chains, and is shown', async () => {
  const canary = canaryOf('edited')
  const url = answering('/edited', canary, 200)
  const { queue_id: queueId } = await send<{ queue_id: number }>('POST', '/api/queues', { name: 'edited' })
  const edited = await send('PATCH', `/api/queues/${queueId}`, { record_responses: 'none' })
  expect(edited).toMatchObject({ record_responses: 'none' })
  const pushed = await here.client.push({ queue: 'edited', url })
  await here.client.ended(pushed.job_id)
  await expectLeftOut(pushed.job_id, canary, 200)
})
