import { createSecretKey, randomBytes } from 'node:crypto'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { SecretBox } from '../../../../src/redis/control/secret-box.ts'
import { anyText } from '../../../support/any-text.ts'

const key = randomBytes(32)
const box = new SecretBox(createSecretKey(key))

test('opens what it sealed, any text', () => {
  fc.assert(
    fc.property(anyText({ maxLength: 300 }), (text) => {
      expect(box.open(box.seal(text))).toBe(text)
    }),
  )
})

test('seals the same text into another every time', () => {
  expect(new Set(Array.from({ length: 50 }, () => box.seal('whsec_abc'))).size).toBe(50)
})

test('a box for a purpose opens what it sealed, in every process, and nothing of another', () => {
  const sealed = box.boxFor('cursors').seal('sms')
  expect(new SecretBox(createSecretKey(Uint8Array.from(key))).boxFor('cursors').open(sealed)).toBe('sms')
  expect(() => box.open(sealed)).toThrow('unable to authenticate')
  expect(() => box.boxFor('letters').open(sealed)).toThrow('unable to authenticate')
  expect(() => box.boxFor('cursors').open(box.seal('sms'))).toThrow('unable to authenticate')
})

test('another process with the key opens it', () => {
  expect(new SecretBox(createSecretKey(Uint8Array.from(key))).open(box.seal('whsec_abc'))).toBe('whsec_abc')
})

/** What the cipher says of a wrong tag, and of what cannot be a nonce or a tag. */
const REFUSAL = /unable to authenticate|Invalid (initialization vector|authentication tag)/

describe('does not open', () => {
  const sealed = Buffer.from(box.seal('whsec_abc'), 'base64')

  test('under another key', () => {
    expect(() => new SecretBox(createSecretKey(randomBytes(32))).open(sealed.toString('base64'))).toThrow(
      REFUSAL,
    )
  })

  test('a text of which any one bit was changed', () => {
    for (let bit = 0; bit < sealed.length * 8; bit += 1) {
      const changed = Buffer.from(sealed)
      changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3)
      expect(() => box.open(changed.toString('base64')), `bit ${bit}`).toThrow(REFUSAL)
    }
  })

  test('a text that was cut short', () => {
    for (let length = 0; length < sealed.length; length += 1) {
      expect(() => box.open(sealed.subarray(0, length).toString('base64')), `${length} bytes`).toThrow(
        REFUSAL,
      )
    }
  })
})

test.each([1, 16, 31, 33])('a key of %i bytes is refused', (length) => {
  expect(() => new SecretBox(createSecretKey(randomBytes(length)))).toThrow(
    'the installation key has 32 bytes',
  )
})
