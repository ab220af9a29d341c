import { describe, expect, it } from 'vitest'
import { headerTextOf, signingSecretOf } from '../../../src/resources/secret-data.ts'

const of = (text: string) => signingSecretOf(Buffer.from(text))

const PADDED = `whsec_${Buffer.alloc(26, 1).toString('base64')}`

describe('a header value', () => {
  const header = (text: string) => headerTextOf(Buffer.from(text))

  it('may hold spaces and tabs, up to 8 KiB', () => {
    for (const text of ['Bearer abc', 'a\tb', 'x'.repeat(8192)]) expect(header(text)).toEqual({ text })
  })

  it.each([
    ['abc\n', 'ends with a line break: write it without one (use printf, not echo).'],
    ['', 'must be visible ASCII characters, spaces and tabs.'],
    ['a\r\nX-Other: b', 'must be visible ASCII characters, spaces and tabs.'],
    ['ä', 'must be visible ASCII characters, spaces and tabs.'],
    ['x'.repeat(8193), 'must have at most 8192 bytes.'],
  ])('may not be %j', (text, reason) => expect(header(text)).toEqual({ reason }))
})

describe('a signing secret', () => {
  it.each([
    'a-plain-text-of-24-bytes',
    "a-plain-text-with-a-quote'",
    'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    PADDED,
    PADDED.replace('=', ''),
  ])('may be %s', (text) => {
    expect(of(text)).toEqual({ text })
  })

  it.each([
    ['secret\n', 'ends with a line break: write it without one (use printf, not echo).'],
    ['', 'must be 1 to 512 visible ASCII characters.'],
    ['two words', 'must be 1 to 512 visible ASCII characters.'],
    ['x'.repeat(513), 'must be 1 to 512 visible ASCII characters.'],
    ['geheimnisträger', 'must be 1 to 512 visible ASCII characters.'],
    ['whsec_', 'must be base64 after whsec_.'],
    ['"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"', 'stands in quotes: write it without them.'],
    ["'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'", 'stands in quotes: write it without them.'],
    [
      'v1,whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
      'begins with "v1,", as a signature does: write what stands behind it.',
    ],
    ['WHSEC_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'must begin with whsec_ in small letters.'],
    [
      'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=',
      'looks like base64: write whsec_ before it, or receivers read another key than is signed with.',
    ],
    ['a-plain-text-of-23-byte', 'must have at least 24 bytes, not 23.'],
    [`whsec_${Buffer.alloc(23).toString('base64')}`, 'must have at least 24 bytes, not 23.'],
    ['whsec_not.base64', 'must be base64 after whsec_.'],
  ])('may not be %j', (text, reason) => {
    expect(of(text)).toEqual({ reason })
  })
})
