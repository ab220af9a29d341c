import { afterEach, describe, expect, test } from 'vitest'
import type { Throttle } from '../../../../src/domain/jobs/flow.ts'
import type { QueueSettings } from '../../../../src/domain/jobs/queue-settings.ts'
import { EditRefusedError, StoreUnavailableError } from '../../../../src/domain/errors.ts'
import type { Queue } from '../../../../src/ports/queues.ts'
import { createFakeClock, type FakeClock } from '../../../support/fake-clock.ts'
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

let edits: number

async function start(
  settings: Partial<QueueSettings> = {},
  {
    clock = createFakeClock(),
    throttle = null,
    isReadOnly = false,
    isBehind = false,
    isGone = false,
  }: {
    clock?: FakeClock
    throttle?: Throttle | null
    isReadOnly?: boolean
    isBehind?: boolean
    isGone?: boolean
  } = {},
) {
  edits = 0
  let now: Queue = { ...aQueue(settings), throttle }
  const auditLog = new ListedAuditLog()
  const get = (): Promise<typeof now> => Promise.resolve(now)
  api = await startApi({
    auditLog,
    clock,
    queues: {
      get: (_team, id) => Promise.resolve(id === 7 ? now : null),
      getByName: get,
      apply: () => Promise.resolve({ queueId: 7 }),
      unthrottle: () => {
        const { throttle: ended } = now
        // The rate limit is the target's, and stays.
        if (ended?.reason !== 'rate_limited') now = { ...now, throttle: null }
        return Promise.resolve(!isGone)
      },
      remove: () => Promise.resolve('removed'),
    },
    editor: {
      create: async () => 'exists' as const,
      edit: (_team, _id, change, check) => {
        edits += 1
        if (isReadOnly) return Promise.reject(new EditRefusedError('Argo CD keeps it.'))
        check?.(now.settings)
        const written = { ...now, settings: { ...now.settings, ...change } }
        if (!isBehind) now = written
        return Promise.resolve(written)
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
  expect((await send('7/state')).json).toEqual({
    paused: null,
    draining: null,
    oldest_ready_seconds: 41,
    oldest_startable_seconds: 41,
    startable: 1,
    stopped: { reason: 'at_limit', jobs: 2 },
  })
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
  const auditLog = await start({ isActive: false }, { clock })
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

describe('a resume', () => {
  const OPEN: Throttle = { reason: 'circuit_open', untilMs: NOW_MS + 30_000 }
  const resume = (headers: Readonly<Record<string, string>> = {}) =>
    call(api.port, '/api/queues/7/resume', { method: 'POST', headers: { ...BEARER, ...headers } })

  test('ends what throttles a queue that is stopped by nothing else, and edits no resource', async () => {
    const auditLog = await start({}, { throttle: OPEN })
    expect((await send('7')).json).toMatchObject({
      throttled: { reason: 'circuit_open', until: '2026-11-21T10:00:30.000+00:00' },
    })
    const { status, json } = await resume()
    expect({ status, json }).toMatchObject({ status: 200, json: { throttled: null, is_active: true } })
    expect(edits).toBe(0)
    expect(auditLog.ended).toMatchObject([
      {
        outcome: 'done',
        entry: {
          action: 'resume',
          before: { throttle_reason: 'circuit_open' },
          after: { throttle_reason: null },
        },
      },
    ])
  })

  test('ends it also where the resource may not be edited', async () => {
    await start({}, { throttle: OPEN, isReadOnly: true })
    expect(await resume()).toMatchObject({ status: 200, json: { throttled: null } })
    await api.close()
    // What else stops the queue is a setting of the resource.
    await start({ isDraining: true }, { throttle: OPEN, isReadOnly: true })
    expect((await resume()).status).toBe(409)
    expect((await send('7')).json).toMatchObject({ is_draining: true, throttled: null })
    await api.close()
    await start({ isActive: false }, { isReadOnly: true })
    expect((await resume()).status).toBe(409)
  })

  test('ends it together with a pause and a drain, as one change', async () => {
    const auditLog = await start({ isDraining: true }, { throttle: OPEN })
    expect(await resume()).toMatchObject({ status: 200, json: { is_draining: false, throttled: null } })
    expect(edits).toBe(1)
    expect(auditLog.ended).toMatchObject([
      {
        entry: {
          action: 'resume',
          before: { is_draining: true, throttle_reason: 'circuit_open' },
          after: { is_draining: false, throttle_reason: null },
        },
      },
    ])
  })

  test('leaves a rate limit, and no entry of an end that was none', async () => {
    const auditLog = await start({}, { throttle: { reason: 'rate_limited', untilMs: NOW_MS + 10 } })
    expect(await resume()).toMatchObject({ status: 200, json: { throttled: { reason: 'rate_limited' } } })
    expect(auditLog.ended).toEqual([null])
  })

  test('answers what was written where it is not applied yet, and nothing where the queue is gone', async () => {
    await start({ isActive: false }, { isBehind: true })
    expect(await resume()).toMatchObject({ status: 200, json: { is_active: true } })
    await api.close()
    await start({}, { throttle: OPEN, isGone: true })
    expect((await resume()).status).toBe(404)
  })

  test('of another version than If-Match names changes nothing', async () => {
    await start({}, { throttle: OPEN })
    expect((await resume({ 'if-match': '"other"' })).status).toBe(409)
    expect((await send('7')).json).toMatchObject({ throttled: { reason: 'circuit_open' } })
  })
})
