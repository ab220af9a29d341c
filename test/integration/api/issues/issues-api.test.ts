import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AuditRecordList, Issue, IssueList } from '../../../../clients/typescript/src/generated/wire.ts'
import { startInstallation, type Installation } from '../../../support/engine/installation.ts'
import type { ApiClient } from '../../../support/servers/api-client.ts'

let here: Installation

beforeAll(async () => {
  here = await startInstallation()
  here.target.route('/bad', () => ({ status: 503 }))
})
afterAll(() => here.close())

async function fail(client: ApiClient, queue: string): Promise<number> {
  const { job_id: id } = await client.push({ queue, url: `${here.target.url}/bad`, retries_enabled: false })
  await client.ended(id)
  return id
}
const list = async (client: ApiClient, search = '') =>
  (await client.send<IssueList>('GET', `/api/issues${search}`)).body.issues

describe.concurrent('issues', () => {
  test('of failures are there at once, and acknowledged, muted, resolved and reopened', async () => {
    const client = await here.clientOfTeam('one')
    expect(await list(client)).toEqual([])
    await fail(client, 'mail')
    const id = await fail(client, 'mail')
    const [issue, ...more] = await list(client)
    expect(more).toEqual([])
    const queue = await client.queueNamed('mail')
    expect(issue).toMatchObject({
      resource: { kind: 'queue', id: queue?.queue_id, name: 'mail' },
      failure_reason: 'http_server_error',
      response_status: 503,
      host: new URL(here.target.url).hostname,
      state: 'open',
      muted_until: null,
      count: 2,
      dead_lettered: 0,
      sample_job_id: id,
    })
    const path = `/api/issues/${issue?.id}`
    expect((await client.send<Issue>('GET', path)).body).toEqual(issue)
    for (const [change, state] of [
      ['acknowledge', 'acknowledged'],
      ['resolve', 'resolved'],
      ['reopen', 'open'],
    ] as const) {
      expect((await client.send<Issue>('POST', `${path}/${change}`)).body).toEqual({ ...issue, state })
    }
    const until = new Date(Date.now() + 3_600_000).toISOString()
    const muted = await client.send<Issue>('POST', `${path}/mute`, { until })
    expect(muted.body).toEqual({ ...issue, state: 'muted', muted_until: until.replace('Z', '+00:00') })
    expect(await list(client, '?state=open')).toEqual([])
    expect(await list(client, '?state=muted&queue=mail')).toEqual([muted.body])
    const audit = await client.send<AuditRecordList>('GET', '/api/audit?resource_kind=issue')
    expect(audit.body.records.map(({ action, resource }) => [action, resource.id, resource.name])).toEqual(
      ['mute', 'reopen', 'resolve', 'acknowledge'].map((action) => [action, issue?.id, 'mail']),
    )
  })

  test('of another team are not found, and wrong questions are refused by the field', async () => {
    const client = await here.clientOfTeam('two')
    await fail(client, 'mail')
    const [issue] = await list(client)
    const other = await here.clientOfTeam('three')
    expect(await list(other)).toEqual([])
    expect((await other.send('GET', `/api/issues/${issue?.id}`)).status).toBe(404)
    expect((await other.send('POST', `/api/issues/${issue?.id}/acknowledge`)).status).toBe(404)
    expect((await client.send('GET', '/api/issues/x')).status).toBe(404)
    expect((await client.send('GET', '/api/issues?state=broken')).body).toMatchObject({
      message: 'The selected state is invalid.',
    })
    const day = 86_400_000
    for (const [body, text] of [
      [{}, 'The until field is required.'],
      [{ until: 'soon' }, /^The until field must be/],
      [{ until: new Date(Date.now() - 1).toISOString() }, 'The until field must be in the future.'],
      [
        { until: new Date(Date.now() + 31 * day).toISOString() },
        'The until field must not be more than 30 days ahead.',
      ],
    ] as const) {
      const answer = await client.send<{ message: string }>('POST', `/api/issues/${issue?.id}/mute`, body)
      expect([answer.status, answer.body.message]).toEqual([422, expect.stringMatching(text)])
    }
  })
})
