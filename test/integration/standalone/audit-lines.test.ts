import { afterAll, expect, test } from 'vitest'
import type { AuditRecordList, JobBatchResults } from '../../../clients/typescript/src/generated/wire.ts'
import { createApiClient } from '../../support/servers/api-client.ts'
import { stopProgram } from '../../support/servers/processes.ts'
import { createStandaloneWorld } from '../../support/servers/standalone-world.ts'

const { newFolder, start, close } = createStandaloneWorld()
afterAll(close)

const DELETED = 300

test('whoever deletes without end hides nothing, neither from the audit log nor from the log', async () => {
  const { program, client } = await start(newFolder())
  await client.makeQueue('orders', {})
  const terms = { name: 'worker', scopes: ['push', 'operate'], queues: ['orders'] }
  const { body: made, status } = await client.send<{ token: string }>('POST', '/api/tokens', terms)
  expect(status).toBe(201)
  const url = String((await program.logged('Standalone runs'))['url'])
  const worker = createApiClient(url, made.token)
  const jobs = Array.from({ length: DELETED }, () => ({ queue: 'orders', url: `${url}/echo`, delay: 3_000 }))
  const { body: pushed } = await worker.send<JobBatchResults>('POST', '/api/jobs/batch', { jobs })
  for (const result of pushed.results) {
    if (result.status !== 201) expect.fail(JSON.stringify(result))
    expect((await worker.send('DELETE', `/api/jobs/${result.job_id}`)).status).toBe(204)
  }

  const { body: log } = await client.send<AuditRecordList>('GET', '/api/audit?limit=1000')
  const byWorker = log.records.filter(({ actor }) => actor.name === 'worker')
  expect(byWorker.reduce((sum, { count }) => sum + count, 0)).toBe(DELETED)
  // A record for each minute in each shard, and a slow machine may take some minutes.
  expect(byWorker.length).toBeLessThan(DELETED / 10)
  expect(log.records.find(({ resource }) => resource.kind === 'token')).toMatchObject({ action: 'create' })

  await stopProgram(program)
  const lines = program.log.filter(({ msg }) => msg === 'audit')
  const deletions = lines.filter(
    ({ action, actor }) => action === 'delete' && (actor as { name: string }).name === 'worker',
  )
  expect(deletions.reduce((sum, line) => sum + Number(line['count'] ?? 1), 0)).toBe(DELETED)
  expect(deletions.length).toBeLessThan(DELETED / 10)
  expect(deletions[0]).toMatchObject({
    level: 'info',
    team: 'default',
    actor: { kind: 'token', name: 'worker' },
    via: 'api',
    address: '127.0.0.1',
    resource: { kind: 'job', name: 'orders' },
    outcome: 'done',
  })
  expect(lines.find(({ resource }) => (resource as { kind: string }).kind === 'token')).toMatchObject({
    action: 'create',
    outcome: 'done',
  })
  expect(JSON.stringify(lines)).not.toContain(made.token)
})
