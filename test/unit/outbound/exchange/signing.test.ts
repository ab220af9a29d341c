import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { appendSignatureHeaders, type SignedContent } from '../../../../src/outbound/exchange/signing.ts'
import { NO_QUOTAS } from '../../../../src/domain/quotas.ts'

function signed(secrets: readonly string[], content: Partial<SignedContent> = {}): Record<string, string> {
  const flat: string[] = []
  const settings = {
    version: 1,
    egressAllow: [],
    signingSecrets: secrets,
    signingSecretIds: [],
    headerSecrets: [],
    quotas: NO_QUOTAS,
    channels: [],
    members: [],
  }
  appendSignatureHeaders(flat, { webhookId: 'id', timestampSeconds: 7, body: null, ...content }, settings)
  return Object.fromEntries(flat.flatMap((name, at) => (at % 2 === 0 ? [[name, flat[at + 1] ?? '']] : [])))
}

function hex(key: string, text: string): string {
  return createHmac('sha256', key).update(text).digest('hex')
}

test('the known answer of Standard Webhooks 1.0', () => {
  const headers = signed(['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'], {
    webhookId: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    timestampSeconds: 1614265330,
    body: Buffer.from('{"test": 2432232314}'),
  })
  expect(headers['webhook-signature']).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=')
})

test('the example of the documentation', () => {
  const example = readFileSync(new URL('../../../../docs/reference/signing.md', import.meta.url), 'utf8')
  const headers = signed(['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'], {
    webhookId: '3f0c52a9-71be-8000-8000-000000000040',
    timestampSeconds: 1614265330,
    body: Buffer.from('{"order": 12345}'),
  })
  for (const [name, value] of Object.entries(headers)) expect(example).toContain(`${name}: ${value}\n`)
})

test('our own scheme has the whole text of the secret as its key', () => {
  const headers = signed(['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'], { body: Buffer.from('{}') })
  expect(headers['X-Punctual-Timestamp']).toBe('7')
  expect(headers['X-Punctual-Signature']).toBe(hex('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', '7.{}'))
  expect(headers).not.toHaveProperty('X-Punctual-Signature-Previous')
})

test('an empty body is signed as nothing after the dot', () => {
  const headers = signed(['s'])
  expect(headers['X-Punctual-Signature']).toBe(hex('s', '7.'))
  expect(headers['webhook-signature']).toBe(
    `v1,${createHmac('sha256', 's').update('id.7.').digest('base64')}`,
  )
})

test('during a rotation both secrets sign, the newer first', () => {
  const headers = signed(['new-ü', 'old', 'forgotten'], { body: Buffer.from('x') })
  expect(headers['X-Punctual-Signature']).toBe(hex('new-ü', '7.x'))
  expect(headers['X-Punctual-Signature-Previous']).toBe(hex('old', '7.x'))
  const expected = ['new-ü', 'old'].map(
    (key) => `v1,${createHmac('sha256', key).update('id.7.x').digest('base64')}`,
  )
  expect(headers['webhook-signature']).toBe(expected.join(' '))
})

test('the bytes of the body are signed, not its text', () => {
  const body = Buffer.from([0xff, 0x00, 0xfe])
  const expected = createHmac('sha256', 's').update('7.').update(body).digest('hex')
  expect(signed(['s'], { body })['X-Punctual-Signature']).toBe(expected)
})

test('without a secret nothing is added', () => {
  expect(signed([])).toEqual({})
})

test('a prefix without a key signs with the empty key', () => {
  expect(signed(['whsec_'])['webhook-signature']).toBe(
    `v1,${createHmac('sha256', '').update('id.7.').digest('base64')}`,
  )
})
