import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { HOSTS_PER_SECRET_MAX } from '../../../../src/domain/limits.ts'
import { commonHosts, hostProblem, mayGoTo } from '../../../../src/domain/secrets/header-secret.ts'
import {
  annotateCommand,
  hostEntryOf,
  mayGoToOrigin,
  otherHostProblem,
  secretHostsOf,
  withinSecretHosts,
} from '../../../../src/domain/secrets/secret-hosts.ts'
import { HEADER_HOSTS, HEADER_HOSTS_REFUSED } from '../../../samples/team-settings.ts'

const annotated = (text: string) => secretHostsOf({ 'punctual.dev/hosts': text })

describe('the annotation', () => {
  test('lists hosts, each once, with blanks between them', () =>
    expect(annotated(' api.test, *.b.test:8080 ,api.test')).toEqual(['api.test', '*.b.test:8080']))

  test('opts out by a star alone', () => expect(annotated(' * ')).toBe('any'))

  test('says nothing where it is not', () => {
    expect(secretHostsOf({ 'punctual.dev/host': 'api.test' })).toBeNull()
  })

  test.each([
    ['', '""'],
    ['api.test,', '""'],
    ['api.test,*', '"*"'],
    ['https://api.test', '"https://api.test"'],
  ])('%j has an entry that is none: %s', (text, entry) =>
    expect(annotated(text)).toEqual({
      problem: `has an entry ${entry}, which must be a host in lower case such as api.example.com, *.example.com for those below it, or an address, with a port such as :8443 if need be.`,
    }),
  )

  test('has a bound', () => {
    const hosts = Array.from({ length: HOSTS_PER_SECRET_MAX + 1 }, (_, at) => `h${at}.test`)
    expect(annotated(hosts.slice(1).join())).toHaveLength(HOSTS_PER_SECRET_MAX)
    expect(annotated(hosts.join())).toEqual({ problem: 'has 51 entries; at most 50 are allowed.' })
  })

  test('takes the entries that the definition of TeamSettings takes, and no others', () => {
    expect(HEADER_HOSTS.filter((host) => hostProblem(host) !== null)).toEqual([])
    expect(HEADER_HOSTS_REFUSED.filter((host) => hostProblem(host) === null)).toEqual([])
    expect(hostProblem('x.'.repeat(130) + 'xy')).not.toBeNull()
  })

  test('is made by a command that a shell takes as one word', () =>
    expect(annotateCommand({ namespace: 'shop', name: 'partner' }, ['*.a.test', 'b.test:80'])).toBe(
      "kubectl annotate secret partner --namespace shop --overwrite 'punctual.dev/hosts=*.a.test,b.test:80'",
    ))
})

describe('what two lists have in common', () => {
  test.each([
    ['a.test', 'a.test', ['a.test']],
    ['a.test', 'b.test', []],
    ['*.test', 'a.test', ['a.test']],
    ['a.test:443', 'a.test', ['a.test']],
    ['*.test:443', 'a.test', ['a.test']],
    ['a.test:8080', 'a.test', []],
    ['*.test:8080', 'a.b.test:8080', ['a.b.test:8080']],
    ['*.b.test', '*.test', ['*.b.test']],
    ['*.a.test', '*.b.test', []],
    ['*.a.test', 'a.test', []],
    ['*.test', '*.test', ['*.test']],
    ['[fd00::0:7]', '[fd00::7]', ['[fd00::7]']],
  ])('%s and %s: %j', (one, other, both) => {
    expect(commonHosts([one], [other])).toEqual(both)
    expect(commonHosts([other], [one])).toEqual(both)
  })

  test('is where both may go, and nowhere else', () => {
    const host = fc.constantFrom('a.test', 'b.a.test', 'c.b.a.test', 'xa.test', 'test')
    const port = fc.constantFrom('', ':443', ':80', ':8080')
    const entry = fc.tuple(fc.constantFrom('', '*.'), host, port).map((parts) => parts.join(''))
    const url = fc.tuple(fc.constantFrom('http://', 'https://'), host, port).map((parts) => parts.join(''))
    const list = fc.array(entry, { maxLength: 3 })
    fc.assert(
      fc.property(list, list, url, (one, other, text) => {
        const target = new URL(text)
        expect(mayGoTo(commonHosts(one, other), target)).toBe(mayGoTo(one, target) && mayGoTo(other, target))
      }),
      { numRuns: 2_000 },
    )
  })

  test('of a spec and a Secret are its hosts, with a problem that names what it may not', () => {
    expect(withinSecretHosts(['a.test', 'evil.test'], ['*.test'], 'p')).toEqual({
      hosts: ['a.test', 'evil.test'],
      problem: null,
    })
    expect(withinSecretHosts(['a.test', 'evil.test'], ['a.test', 'c.test'], 'p')).toEqual({
      hosts: ['a.test'],
      problem: 'Secret p may not go to evil.test: its annotation punctual.dev/hosts says a.test,c.test.',
    })
    expect(withinSecretHosts(['evil.test'], 'any', 'p')).toEqual({ hosts: ['evil.test'], problem: null })
  })
})

test.each([
  ['https://a.test/x?y=1', 'a.test'],
  ['https://a.test:443', 'a.test'],
  ['http://a.test.', 'a.test:80'],
  ['https://A.test:8443', 'a.test:8443'],
  ['http://[fd00::7]:8080', '[fd00::7]:8080'],
])('the entry of %s is %s, where it may go to', (text, entry) => {
  expect(hostEntryOf(new URL(text))).toBe(entry)
  expect(hostProblem(entry)).toBeNull()
  expect(mayGoTo([entry], new URL(text))).toBe(true)
})

test('a value goes to no other host than its Secret says', () => {
  expect(otherHostProblem(['a.test'], new URL('https://a.test/x'), 'p')).toBeNull()
  expect(otherHostProblem('any', new URL('https://evil.test'), 'p')).toBeNull()
  expect(otherHostProblem(['a.test'], new URL('https://evil.test:8443/x'), 'p')).toBe(
    'Secret p may not go to evil.test:8443: its annotation punctual.dev/hosts says a.test.',
  )
  expect(mayGoToOrigin(['a.test'], 'https://a.test')).toBe(true)
  expect(mayGoToOrigin(['a.test'], 'https://evil.test')).toBe(false)
  expect(mayGoToOrigin(['a.test'], 'null')).toBe(false)
  expect(mayGoToOrigin('any', 'https://evil.test')).toBe(true)
})
