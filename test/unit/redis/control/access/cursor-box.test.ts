import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { openCursorBox } from '../../../../../src/redis/control/access/cursor-box.ts'

test('a digest is the same in every API of an installation, and another in another installation', async () => {
  const open = (cursorKey: string) =>
    openCursorBox({ hgetall: async () => ({ cursorKey }), hsetnx: async () => 0 })
  const key = randomBytes(32).toString('base64')
  const [one, same, other] = [
    await open(key),
    await open(key),
    await open(randomBytes(32).toString('base64')),
  ]
  expect(one.digest('text')).toMatch(/^[\w-]{43}$/)
  expect(same.digest('text')).toBe(one.digest('text'))
  expect(one.digest('texts')).not.toBe(one.digest('text'))
  expect(other.digest('text')).not.toBe(one.digest('text'))
})

test('a cursor is no login, and a login no cursor', async () => {
  const cursorKey = randomBytes(32).toString('base64')
  const box = await openCursorBox({ hgetall: async () => ({ cursorKey }), hsetnx: async () => 0 })
  expect(box.logins.open(box.logins.seal('text'))).toBe('text')
  expect(() => box.logins.open(box.seal('text'))).toThrow('unable to authenticate')
  expect(() => box.open(box.logins.seal('text'))).toThrow('unable to authenticate')
})
