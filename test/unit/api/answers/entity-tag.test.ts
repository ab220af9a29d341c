import { expect, test } from 'vitest'
import { entityTagOf } from '../../../../src/api/entity-tag.ts'
import { EditConflictError } from '../../../../src/domain/errors.ts'
import type { Queue } from '../../../../src/ports/queues.ts'
import type { WindowChange } from '../../../../src/ports/windows.ts'
import { FakeAuditLog } from '../../../support/fake-audit-log.ts'
import { aCron, aQueue, aWindow, BEARER, call, startApi } from '../api-fixture.ts'

const JSON_TYPE = { ...BEARER, 'content-type': 'application/json' }

test('is the same for equal settings in any order of fields, and another for others', () => {
  const tag = entityTagOf({ a: 1, b: { c: [1, 2], d: null } })
  expect(tag).toMatch(/^"[A-Za-z0-9_-]{16}"$/)
  expect(entityTagOf({ b: { d: null, c: [1, 2] }, a: 1 })).toBe(tag)
  for (const other of [
    { a: 1, b: { c: [2, 1], d: null } },
    { a: '1', b: { c: [1, 2], d: null } },
    { a: 1, b: { c: [1, 2] } },
  ]) {
    expect(entityTagOf(other)).not.toBe(tag)
  }
})

test.each([
  ['/api/queues/7', 'is_active', true],
  ['/api/crons/7', 'is_active', true],
  ['/api/maintenance-windows/night', 'reason', 'another'],
])('%s is edited under the tag that it was read with, and no other', async (path, field, value) => {
  const edit = <Settings>(current: Settings, result: unknown) => {
    return (_team: string, _id: unknown, _change: unknown, check?: (settings: Settings) => void) => {
      return Promise.try(() => {
        check?.(current)
        return result as never
      })
    }
  }
  const api = await startApi({
    editor: {
      create: async () => 'exists' as const,
      edit: edit(aQueue().settings, aQueue()),
      remove: () => Promise.resolve('removed'),
    },
    cronEditor: { edit: edit(aCron().settings, aCron()) } as never,
  })
  const { etag } = (await call(api.port, path, { headers: BEARER })).headers
  expect(etag).toBeDefined()
  const send = (tag: string) =>
    call(api.port, path, {
      method: 'PATCH',
      headers: { ...JSON_TYPE, 'if-match': tag },
      body: JSON.stringify({ [field]: value }),
    })
  for (const tag of [String(etag), `"other", ${etag}`, '*']) expect((await send(tag)).status).toBe(200)
  for (const tag of ['"other"', `W/${etag}`, 'other', '']) {
    const answer = await send(tag)
    expect([tag, answer.status]).toEqual([tag, 409])
    expect(JSON.parse(answer.text)).toEqual({
      error: 'The resource has changed since it was read: read it again and repeat the edit.',
      version: etag,
    })
    expect(answer.headers.etag).toBe(etag)
  }
  await api.close()
})

test.each([
  ['/api/queues/7', { timeout_seconds: 9 }],
  ['/api/crons/7', { timeout_seconds: 9 }],
])('an edit of %s is noted with what it found, not with what was read ahead of it', async (path, change) => {
  const auditLog = new FakeAuditLog()
  // Somebody else changes the timeout and the retries after the request was read; a first write fails for that.
  const edit = <Of extends { readonly settings: Queue['settings'] }>(of: Of) => {
    return async (_t: string, _id: unknown, change: object, check?: (settings: Of['settings']) => void) => {
      check?.({ ...of.settings, retriesEnabled: false })
      const found = { ...of.settings, retriesEnabled: false, timeoutSeconds: 8 }
      check?.(found)
      return { ...of, settings: { ...found, ...change } } as never
    }
  }
  const editor = {
    create: async () => 'exists' as const,
    edit: edit(aQueue()),
    remove: () => Promise.resolve('removed' as const),
  }
  const api = await startApi({ auditLog, editor, cronEditor: { edit: edit(aCron() as never) } as never })
  const answer = await call(api.port, path, {
    method: 'PATCH',
    headers: JSON_TYPE,
    body: JSON.stringify(change),
  })
  await api.close()
  expect(answer.status).toBe(200)
  expect(auditLog.ended).toMatchObject([{ outcome: 'done' }])
  expect(auditLog.ended[0]?.entry.before).toEqual({ timeout_seconds: 8 })
  expect(auditLog.ended[0]?.entry.after).toEqual(change)
})

test.each(['/api/queues/7', '/api/crons/7'])(
  'while others keep editing %s, only an edit with If-Match is refused',
  async (path) => {
    const auditLog = new FakeAuditLog()
    const edit = <Of extends { readonly settings: object }>(of: Of) => {
      return async (_t: string, _id: unknown, change: object, check?: (settings: Of['settings']) => void) => {
        check?.(of.settings)
        if (check !== undefined) throw new EditConflictError(null)
        return { ...of, settings: { ...of.settings, ...change } } as never
      }
    }
    const editor = {
      create: async () => 'exists' as const,
      edit: edit(aQueue()),
      remove: () => Promise.resolve('removed' as const),
    }
    const api = await startApi({ auditLog, editor, cronEditor: { edit: edit(aCron()) } as never })
    const { etag } = (await call(api.port, path, { headers: BEARER })).headers
    const send = (headers: object) =>
      call(api.port, path, {
        method: 'PATCH',
        headers: { ...JSON_TYPE, ...headers },
        body: JSON.stringify({ timeout_seconds: 9 }),
      })
    for (const headers of [{}, { 'if-match': '*' }]) {
      expect((await send(headers)).status).toBe(200)
      expect(auditLog.ended.at(-1)).toMatchObject({
        outcome: 'done',
        entry: { after: { timeout_seconds: 9 } },
      })
    }
    expect((await send({ 'if-match': String(etag) })).status).toBe(409)
    expect(auditLog.ended.at(-1)).toMatchObject({ outcome: 'refused' })
    await api.close()
  },
)

test('an edit of a window is noted with what it found', async () => {
  const auditLog = new FakeAuditLog()
  const windowEditor = {
    edit: async (_team: string, _name: string, change: WindowChange) => {
      const found = aWindow({ reason: 'by another' })
      const settings = await change(found)
      return settings === 'refused' ? settings : { ...found, ...settings }
    },
  }
  const api = await startApi({ auditLog, windowEditor: windowEditor as never })
  const options = { method: 'PATCH', headers: JSON_TYPE, body: JSON.stringify({ action: 'hold' }) }
  const answer = await call(api.port, '/api/maintenance-windows/night', options)
  await api.close()
  expect(answer.status).toBe(200)
  expect(auditLog.ended).toMatchObject([{ entry: { before: { action: 'mute' }, after: { action: 'hold' } } }])
  expect(Object.keys(auditLog.ended[0]?.entry.after ?? {})).toEqual(['action'])
})

test('the tag of a cron is of secret headers too, and tells by no other cron whether a guess is right', async () => {
  const settingsOf = (authorization: string) => aCron({ headers: { Authorization: authorization } }).settings
  let current = settingsOf('Bearer one')
  const crons = {
    get: (_team: string, cronId: number) => Promise.resolve(aCron(current, { cronId })),
    list: () => Promise.resolve({ crons: [], nextCursor: null }),
  }
  const cronEditor = {
    edit: async (_t: string, cronId: number, change: object, check?: (found: typeof current) => void) => {
      check?.(current)
      current = { ...current, ...change }
      return aCron(current, { cronId })
    },
  }
  const api = await startApi({ crons: crons as never, cronEditor: cronEditor as never })
  const read = async (id: number) => {
    const answer = await call(api.port, `/api/crons/${id}`, { headers: BEARER })
    return [JSON.parse(answer.text).headers, String(answer.headers.etag)] as const
  }
  const [shown, tag] = await read(7)
  expect((await read(8))[1]).not.toBe(tag)
  const edit = (authorization: string) =>
    call(api.port, '/api/crons/7', {
      method: 'PATCH',
      headers: { ...JSON_TYPE, 'if-match': tag },
      body: JSON.stringify({ headers: { Authorization: authorization } }),
    })
  expect((await edit('Bearer two')).status).toBe(200)
  expect(await read(7)).toEqual([shown, expect.not.stringMatching(tag)])
  expect((await edit('Bearer three')).status).toBe(409)
  expect(current.headers).toEqual({ Authorization: 'Bearer two' })
  await api.close()
})
