import { expect, test } from 'vitest'
import { entityTagOf } from '../../../src/api/entity-tag.ts'
import { aCron, aQueue, BEARER, call, startApi } from './api-fixture.ts'

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
    editor: { edit: edit(aQueue().settings, aQueue()), remove: () => Promise.resolve('removed') },
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
