import { expect, test } from 'vitest'
import { startInstallation } from '../../support/engine/installation.ts'
import { until } from '../../support/until.ts'

test('a job whose record is damaged stops no other; it is shown as damaged, and deleted', async () => {
  const here = await startInstallation()
  const queueId = await here.client.makeQueue('odd', { is_active: false })
  const push = (queue: string) => here.client.push({ queue, url: `${here.target.url}/${queue}` })
  const [first, bad, last] = [await push('odd'), await push('odd'), await push('odd')]
  const [records = ''] = await here.redis.client.keys('punctual:*:b:*')
  const length = await here.redis.client.hstrlen(records, String(bad.job_id))
  await here.redis.client.hset(records, String(bad.job_id), 'x'.repeat(length))
  const other = await push('other')
  await here.client.send('PATCH', `/api/queues/${queueId}`, { is_active: true })
  for (const { job_id: id } of [first, last, other]) {
    expect(await here.client.ended(id)).toMatchObject({ final_status: 'success' })
  }
  const damaged = await here.client.ended(bad.job_id)
  expect(damaged).toMatchObject({
    status: 'failed',
    final_status: 'dead_lettered',
    failure_reason: 'damaged',
    url: '',
    headers: null,
    payload: null,
    calls: [],
  })
  await until(
    'it is set aside',
    async () => (await here.redis.client.hexists(records, String(bad.job_id))) === 0,
  )
  const { jobs } = await here.client.jobs({ queue: 'odd', status: 'dead_lettered' })
  expect(jobs.map((job) => job.job_id)).toEqual([bad.job_id])
  const path = `/api/jobs/${bad.job_id}`
  expect((await here.client.send('POST', `${path}/replay`)).status).toBe(409)
  expect((await here.client.send('DELETE', path)).status).toBe(204)
  expect((await here.client.send('GET', path)).status).toBe(404)
  await here.close({ errors: ['A record is damaged; its job is quarantined as a dead letter'] })
})
