import { afterEach, expect, test } from 'vitest'
import type { QueueSettings } from '../../../../src/domain/jobs/queue-settings.ts'
import { StoreUnavailableError } from '../../../../src/domain/errors.ts'
import { createFakeClock } from '../../../support/fake-clock.ts'
import { FakeAuditLog } from '../../../support/fake-audit-log.ts'
import { aQueue, BEARER, call, NOW_MS, type RunningApi, startApi } from '../api-fixture.ts'

let api: RunningApi
afterEach(() => api.close())

const ONCE = { count: 1, lastAtMs: NOW_MS, ids: [] }

/** Lists what it was told, newest first. */
class ListedAuditLog extends FakeAuditLog {
  lists = 0
  away = false

  override list() {
    this.lists += 1
    if (this.away) return Promise.reject(new StoreUnavailableError('away'))
    const records = this.ended.flatMap((end, index) =>
      end === null ? [] : [{ ...end.entry, outcome: end.outcome, id: String(index), atMs: NOW_MS, ...ONCE }],
    )
    return Promise.resolve({ records: records.toReversed(), nextCursor: null })
  }
}

async function start(settings: Partial<QueueSettings> = {}, clock = createFakeClock()) {
  let now = aQueue(settings)
  const auditLog = new ListedAuditLog()
  const get = (): Promise<typeof now> => Promise.resolve(now)
  api = await startApi({
    auditLog,
    clock,
    queues: {
      list: () => Promise.resolve({ queues: [now], nextCursor: null }),
      get: (_team, id) => Promise.resolve(id === 7 ? now : null),
      getByName: get,
      apply: () => Promise.resolve({ queueId: 7 }),
      remove: () => Promise.resolve('removed'),
    },
    editor: {
      edit: (_team, _id, change) => {
        now = { ...now, settings: { ...now.settings, ...change } }
        return get()
      },
      remove: () => Promise.resolve('removed'),
    },
  })
  return auditLog
}

const send = (path: string, method = 'GET', body?: unknown) =>
  call(api.port, `/api/queues/${path}`, {
    method,
    headers: { ...BEARER, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })

const NOBODY = { at: null, by: null, via: null, reason: null }

test('a queue that runs is not stopped by anybody', async () => {
  await start()
  expect((await send('7/state')).json).toEqual({ paused: null, draining: null, oldest_ready_seconds: 41 })
  expect((await send('8/state')).status).toBe(404)
})

test('the state says who paused it and why, and who lets it drain', async () => {
  await start()
  expect((await send('7/pause', 'POST', { reason: 'The mail server is down.' })).status).toBe(200)
  expect((await send('7/drain', 'POST')).status).toBe(200)
  const { json } = await send('7/state')
  const by = { by: 'test', via: 'api', at: new Date(NOW_MS).toISOString().replace('Z', '+00:00') }
  expect(json).toMatchObject({
    paused: { ...by, reason: 'The mail server is down.' },
    draining: { ...by, reason: null },
  })
  await send('7/resume', 'POST')
  expect((await send('7/state')).json).toMatchObject({ paused: null, draining: null })
})

test('a stop that no entry tells of is still a stop', async () => {
  await start({ isActive: false, isDraining: true })
  expect((await send('7/state')).json).toMatchObject({ paused: NOBODY, draining: NOBODY })
})

test('what was done to a queue whose id is its name is not told of it', async () => {
  const auditLog = await start()
  await send('7/pause', 'POST', { reason: 'Ours.' })
  const [mine] = auditLog.ended
  if (mine === null || mine === undefined) throw new Error('nothing was written')
  const resource = { kind: 'queue', id: 12, name: 'other' } as const
  auditLog.ended.push({ ...mine, entry: { ...mine.entry, resource, after: { reason: 'Theirs.' } } })
  expect((await send('7/state')).json).toMatchObject({ paused: { reason: 'Ours.' } })
})

test('a reason is text of at most 200 characters, and nothing else goes with it', async () => {
  const auditLog = await start()
  for (const body of [{ reason: 'x'.repeat(201) }, { reason: 7 }, { why: 'x' }]) {
    expect((await send('7/pause', 'POST', body)).status).toBe(422)
  }
  expect(auditLog.asked).toEqual([])
})

test('pages that ask again and again cost the audit log one look in ten seconds', async () => {
  const clock = createFakeClock()
  const auditLog = await start({ isActive: false }, clock)
  auditLog.away = true
  expect((await send('7/state')).status).toBe(503)
  auditLog.away = false
  await Promise.all([send('7/state'), send('7/state')])
  expect((await send('7/state')).json).toMatchObject({ paused: NOBODY })
  expect(auditLog.lists).toBe(2)
  // What this process changes it knows at once.
  await send('7/pause', 'POST', { reason: 'Again.' })
  expect((await send('7/state')).json).toMatchObject({ paused: { reason: 'Again.' } })
  await clock.advance(10_000)
  await send('7/state')
  expect(auditLog.lists).toBe(4)
})
