import { expect, test } from 'vitest'
import { isCallableHost } from '../../../../src/domain/net/host-name.ts'

const hostOf = (host: string) => new URL(`http://${host}/`).hostname
const label = (characters: number) => 'a'.repeat(characters)
/** Four labels, so long in all. */
const name = (characters: number) => [label(63), label(63), label(63), label(characters - 3 * 64)].join('.')

test.each([
  'a',
  'a.test',
  'a.test.',
  'a_b.test',
  'xn--nxasmq6b.test',
  label(63),
  `${label(63)}.test`,
  name(253),
  `${name(253)}.`,
  '127.0.0.1',
  '127.0.0.1.',
  '2130706433',
  '[::1]',
  'bücher.test',
])('%s can be called', (host) => {
  expect(isCallableHost(hostOf(host))).toBe(true)
})

test.each([
  '.',
  '..',
  '.a',
  'a..b',
  'a..',
  'a%2e.b',
  '。',
  label(64),
  `${label(64)}.test`,
  `a.${label(64)}.`,
  name(254),
  `${name(254)}.`,
  `${'ü'.repeat(60)}.test`,
])('%s cannot', (host) => {
  expect(isCallableHost(hostOf(host))).toBe(false)
})

test('nor can no host', () => {
  expect(isCallableHost('')).toBe(false)
})
