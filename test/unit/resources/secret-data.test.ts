import { describe, expect, it } from 'vitest'
import { signingSecretOf } from '../../../src/resources/secret-data.ts'

const of = (text: string) => signingSecretOf(Buffer.from(text))

describe('a signing secret', () => {
  it.each(['plain-text', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'whsec_YQ==', 'whsec_YQ'])(
    'may be %s',
    (text) => {
      expect(of(text)).toEqual({ text })
    },
  )

  it.each([
    ['secret\n', 'ends with a line break: write it without one (use printf, not echo).'],
    ['', 'must be 1 to 512 visible ASCII characters.'],
    ['two words', 'must be 1 to 512 visible ASCII characters.'],
    ['x'.repeat(513), 'must be 1 to 512 visible ASCII characters.'],
    ['geheimnisträger', 'must be 1 to 512 visible ASCII characters.'],
    ['whsec_', 'must be base64 after whsec_.'],
    ['whsec_not.base64', 'must be base64 after whsec_.'],
  ])('may not be %j', (text, reason) => {
    expect(of(text)).toEqual({ reason })
  })
})
