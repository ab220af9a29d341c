import { afterEach, expect, test } from 'vitest'
import { BEARER, call, startApi, type RunningApi } from '../api-fixture.ts'
import type { IssueStore } from '../../../../src/ports/issues/issue-store.ts'
import { anIssue, fakeIssues, ISSUE_ID } from './fake-issues.ts'
import { aPrincipal } from '../../../support/principals.ts'

let api: RunningApi | null = null
afterEach(async () => {
  await api?.close()
  api = null
})

async function limitedTo(queue: string): Promise<RunningApi> {
  api = await startApi({ tokens: { principalOf: () => aPrincipal('default', { queues: new Set([queue]) }) } })
  return api
}

const PATH = `/api/issues/${ISSUE_ID}`
const post = { method: 'POST', headers: BEARER }

test('issues of other queues than those of a token are not there for it', async () => {
  const { port } = await limitedTo('other')
  expect((await call(port, '/api/issues', { headers: BEARER })).json).toMatchObject({ issues: [] })
  expect((await call(port, PATH, { headers: BEARER })).status).toBe(404)
  expect((await call(port, `${PATH}/resolve`, post)).status).toBe(404)
})

test('issues of its queues are', async () => {
  const { port } = await limitedTo('emails')
  expect((await call(port, '/api/issues', { headers: BEARER })).json).toMatchObject({
    issues: [{ id: ISSUE_ID, count: 7, dead_lettered: 3 }],
  })
  expect((await call(port, PATH, { headers: BEARER })).status).toBe(200)
  expect((await call(port, `${PATH}/resolve`, post)).json).toMatchObject({ state: 'resolved' })
})

test('issues of crons and of the team are only for those who see all queues', async () => {
  for (const kind of ['cron', 'team'] as const) {
    const issue = anIssue({ resource: { kind, id: 7, name: 'emails' } })
    api = await startApi({
      issues: {
        get: () => Promise.resolve(issue),
        list: () => Promise.resolve({ issues: [issue], nextCursor: null }),
        change: () => Promise.resolve(issue),
      },
      tokens: { principalOf: () => aPrincipal('default', { queues: new Set(['emails']) }) },
    })
    expect((await call(api.port, PATH, { headers: BEARER })).status).toBe(404)
    expect((await call(api.port, '/api/issues', { headers: BEARER })).json).toMatchObject({ issues: [] })
    await api.close()
    api = null
  }
})

test('an id of another form is a 404', async () => {
  api = await startApi()
  for (const id of ['7', 'x', `${ISSUE_ID}0`, '1'.repeat(40)]) {
    expect((await call(api.port, `/api/issues/${id}`, { headers: BEARER })).status).toBe(404)
    expect((await call(api.port, `/api/issues/${id}/reopen`, post)).status).toBe(404)
  }
})

test('takes several states, each once, and none that there is not', async () => {
  const asked: unknown[] = []
  const list: IssueStore['list'] = ({ filter }) => {
    asked.push(filter.states)
    return Promise.resolve({ issues: [], nextCursor: null })
  }
  api = await startApi({ issues: { ...fakeIssues(), list } })
  const { port } = api
  for (const query of ['', '?state=open', '?state=acknowledged,open,open']) {
    expect((await call(port, `/api/issues${query}`, { headers: BEARER })).status).toBe(200)
  }
  expect(asked).toEqual([null, ['open'], ['open', 'acknowledged']])
  for (const query of ['closed', 'open,', 'open,closed', 'open,acknowledged,x']) {
    const { status, json } = await call(port, `/api/issues?state=${query}`, { headers: BEARER })
    expect([status, json]).toMatchObject([422, { errors: { state: ['The selected state is invalid.'] } }])
  }
})
