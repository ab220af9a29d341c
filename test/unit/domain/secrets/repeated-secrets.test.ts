import { describe, expect, test } from 'vitest'
import { repeatsInOtherForm } from '../../../../src/domain/secrets/repeated-secrets.ts'

const SECRET = 'aB3/xY+z9=Q"k<7'
const base64 = (text: string) => Buffer.from(text).toString('base64')
const codes = (text: string, write: (code: number) => string) =>
  [...text].map((one) => write(one.charCodeAt(0))).join('')

describe('a secret is found', () => {
  test.each([
    ['in other case', SECRET.toUpperCase()],
    ['as JSON writes it', JSON.stringify({ token: SECRET })],
    ['as PHP writes JSON', JSON.stringify(SECRET).replaceAll('/', String.raw`\/`)],
    [
      'as Go writes JSON',
      JSON.stringify(SECRET)
        .replaceAll('<', String.raw`\u003c`)
        .replaceAll('+', String.raw`\u002B`),
    ],
    ['in JSON within JSON', JSON.stringify({ body: JSON.stringify({ token: SECRET }) })],
    ['in a URL', `https://x.example/?t=${encodeURIComponent(SECRET)}`],
    ['in a URL, every byte of it', codes(SECRET, (code) => `%${code.toString(16)}`)],
    ['in a URL within JSON', JSON.stringify(encodeURIComponent(JSON.stringify(SECRET)))],
    ['in HTML', SECRET.replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('/', '&#x2F;')],
    ['in HTML by numbers', codes(SECRET, (code) => `&#${code};`)],
    ['in base64', base64(SECRET)],
    ['in base64, one byte further', base64(`:${SECRET}!`)],
    ['in base64, two bytes further', base64(`ab${SECRET}cd`)],
    ['in base64 of a URL', Buffer.from(`user:${SECRET}`).toString('base64url')],
    ['in base64 within JSON of PHP', base64(`{"t":"${SECRET}"}`).replaceAll('/', String.raw`\/`)],
    ['in hexadecimal', Buffer.from(SECRET).toString('hex').toUpperCase()],
  ])('%s', (_form, text) => {
    expect(repeatsInOtherForm(`before ${text} after`, ['another-secret', SECRET])).toBe(true)
  })

  test('that looks escaped itself', () => {
    expect(repeatsInOtherForm('a%41&amp;b\\u0041', ['A%41&amp;b\\u0041'])).toBe(true)
  })

  test('in base64 of a URL, with the two signs that differ', () => {
    const [plus, slash] = ['~~>>~~>>~~', 'oo?oo?oo??']
    const encoded = Buffer.from(`${plus} ${slash}`).toString('base64url')
    expect(encoded).toMatch(/-.*_/)
    expect(repeatsInOtherForm(encoded, [plus])).toBe(true)
    expect(repeatsInOtherForm(encoded, [slash])).toBe(true)
  })

  test('with letters beyond ASCII', () => {
    expect(repeatsInOtherForm(encodeURIComponent('schlüssel-größe'), ['schlüssel-größe'])).toBe(true)
  })
})

test.each([
  ['a text without it', 'nothing of that kind'],
  ['a part of it', SECRET.slice(0, -1)],
  ['a part of it in base64', base64(SECRET.slice(0, -2))],
  ['escapes that mean nothing', String.raw`%zz \q \u12 &nothing; &#9999999; &#xFFFFFF;`],
  ['nothing', ''],
])('%s repeats none', (_what, text) => {
  expect(repeatsInOtherForm(text, [SECRET])).toBe(false)
})

test('where there are no secrets, no text repeats one', () => {
  expect(repeatsInOtherForm('anything', [])).toBe(false)
})
