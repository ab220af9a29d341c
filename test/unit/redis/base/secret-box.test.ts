import { createSecretKey, randomBytes } from 'node:crypto'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { SecretBox } from '../../../../src/redis/base/secret-box.ts'
import { anyText } from '../../../support/any-text.ts'

const key = randomBytes(32)
const box = new SecretBox(createSecretKey(key))

test('opens what it sealed, any text', () => {
  fc.assert(
    fc.property(anyText({ maxLength: 300 }), (text) => {
      expect(box.open(box.seal(text, 'here'), 'here')).toBe(text)
    }),
  )
})

test('seals the same text into another every time', () => {
  expect(new Set(Array.from({ length: 50 }, () => box.seal('whsec_abc', 'here'))).size).toBe(50)
})

test('opens what it sealed for its place alone', () => {
  const sealed = box.seal('whsec_abc', '["shop","signing"]')
  expect(() => box.open(sealed, '["other","signing"]')).toThrow('unable to authenticate')
  expect(() => box.open(sealed, '')).toThrow('unable to authenticate')
})

test('what it sealed may stand in a URL as it is', () => {
  expect(box.seal('x'.repeat(300), 'here')).toMatch(/^[\w.-]+$/)
})

describe('a rotation of keys', () => {
  const former = createSecretKey(randomBytes(32))
  const next = createSecretKey(randomBytes(32))
  const before = new SecretBox(former).seal('whsec_abc', 'here')

  test('opens what was sealed under another of its keys, and seals under the first', () => {
    const both = new SecretBox(next, [former])
    expect(both.open(before, 'here')).toBe('whsec_abc')
    expect(both.isCurrent(before)).toBe(false)
    const after = both.seal('whsec_abc', 'here')
    expect(both.isCurrent(after)).toBe(true)
    expect(new SecretBox(next).open(after, 'here')).toBe('whsec_abc')
    expect(new SecretBox(former, [next]).open(after, 'here')).toBe('whsec_abc')
  })

  test('names the key that is not here, and shows nothing of it', () => {
    const id = before.split('.')[1] ?? ''
    expect(id).toMatch(/^[0-9a-f]{12}$/)
    expect(() => new SecretBox(next).open(before, 'here')).toThrow(
      `sealed under key ${id}, which is not here`,
    )
    expect(former.export().toString('hex')).not.toContain(id)
  })
})

test('another process with the key opens it', () => {
  expect(
    new SecretBox(createSecretKey(Uint8Array.from(key))).open(box.seal('whsec_abc', 'here'), 'here'),
  ).toBe('whsec_abc')
})

/** What the cipher says of a wrong tag, and of what cannot be a nonce or a tag. */
const REFUSAL = /unable to authenticate|Invalid (initialization vector|authentication tag)/

describe('does not open', () => {
  const whole = box.seal('whsec_abc', 'here')
  const start = whole.lastIndexOf('.') + 1
  const sealed = Buffer.from(whole.slice(start), 'base64url')
  const withBytes = (bytes: Buffer): string => whole.slice(0, start) + bytes.toString('base64url')

  test('under another key', () => {
    expect(() => new SecretBox(createSecretKey(randomBytes(32))).open(whole, 'here')).toThrow('is not here')
  })

  test('a text of which any one bit was changed', () => {
    for (let bit = 0; bit < sealed.length * 8; bit += 1) {
      const changed = Buffer.from(sealed)
      changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3)
      expect(() => box.open(withBytes(changed), 'here'), `bit ${bit}`).toThrow(REFUSAL)
    }
  })

  test('a text of another form', () => {
    for (const other of ['', 'x', sealed.toString('base64'), whole.replace('v1.', 'v2.')])
      expect(() => box.open(other, 'here'), other).toThrow('not a sealed secret')
  })

  test('a text that was cut short', () => {
    for (let length = 0; length < sealed.length; length += 1) {
      expect(() => box.open(withBytes(sealed.subarray(0, length)), 'here'), `${length} bytes`).toThrow(
        REFUSAL,
      )
    }
    for (let length = 0; length < start; length += 1) {
      expect(() => box.open(whole.slice(0, length), 'here'), `${length} characters`).toThrow(
        /is not here|not a sealed secret/,
      )
    }
  })
})

test.each([1, 16, 31, 33])('a key of %i bytes is refused', (length) => {
  expect(() => new SecretBox(createSecretKey(randomBytes(length)))).toThrow(
    'the installation key has 32 bytes',
  )
})
