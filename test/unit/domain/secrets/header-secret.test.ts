import { describe, expect, test } from 'vitest'
import { headerSecretRefusal, mayGoTo } from '../../../../src/domain/secrets/header-secret.ts'

describe('a header secret may go to', () => {
  test.each([
    ['api.test', 'https://api.test/v1?x=1'],
    ['api.test', 'https://API.test:443/'],
    ['api.test', 'https://api.test./'],
    ['api.test:443', 'https://api.test/'],
    ['api.test:80', 'http://api.test/'],
    ['api.test:8080', 'http://api.test:8080/'],
    ['api.test:8080', 'https://api.test:8080/'],
    ['*.test', 'https://a.b.test/'],
    ['*.api.test:8080', 'http://x.api.test:8080/'],
    ['10.1.2.3', 'https://10.1.2.3/'],
    ['10.1.2.3:8080', 'http://10.1.2.3:8080/'],
    ['[fd00::0:7]:8080', 'http://[fd00::7]:8080/'],
    ['localhost:8080', 'http://localhost:8080/'],
    ['xn--mnchen-3ya.test', 'https://münchen.test/'],
  ])('%s: %s', (entry, url) => expect(mayGoTo(['other.test', entry], new URL(url))).toBe(true))
})

describe('a header secret may not go to', () => {
  test.each([
    ['api.test', 'http://api.test/'],
    ['api.test', 'http://api.test:443/'],
    ['api.test', 'https://api.test:8443/'],
    ['api.test', 'https://evil.test/'],
    ['api.test', 'https://x.api.test/'],
    ['api.test', 'https://xapi.test/'],
    ['api.test', 'https://api.test.evil/'],
    ['api.test', 'https://evil.test/api.test'],
    ['api.test', 'https://evil.test/?h=https://api.test'],
    ['api.test:8080', 'https://api.test/'],
    ['*.api.test', 'https://api.test/'],
    ['*.api.test', 'https://evilapi.test/'],
    ['*.api.test', 'http://x.api.test/'],
    ['10.1.2.3', 'https://10.1.2.30/'],
    ['', 'https://api.test/'],
    ['*.', 'https://api.test/'],
    ['*', 'https://api.test/'],
  ])('%s: %s', (entry, url) => expect(mayGoTo([entry], new URL(url))).toBe(false))

  test('anything without hosts', () => expect(mayGoTo([], new URL('https://api.test'))).toBe(false))
})

test('a job is refused one that the team does not have, or that may not go to its target', () => {
  const secrets = [{ name: 'partner', hosts: ['api.test'], value: null }]
  expect(headerSecretRefusal(secrets, 'partner', 'https://api.test/')).toBeNull()
  expect(headerSecretRefusal(secrets, 'partner', null)).toBeNull()
  expect(headerSecretRefusal(secrets, 'Partner', null)).toBe('unknown')
  expect(headerSecretRefusal(secrets, 'partner', 'https://evil.test/')).toBe('other_host')
})
