import { expect, test } from 'vitest'
import { loadStandaloneSettings } from '../../../src/settings/role-settings.ts'

const basePathOf = (env: Record<string, string>) => loadStandaloneSettings(env, {}).basePath

test('the base path is the one given, else that of the public URL', () => {
  expect(basePathOf({})).toBe('')
  expect(basePathOf({ PUNCTUAL_BASE_PATH: '/' })).toBe('')
  expect(basePathOf({ PUNCTUAL_BASE_PATH: '/tools/punctual/' })).toBe('/tools/punctual')
  expect(basePathOf({ PUNCTUAL_PUBLIC_URL: 'https://a.example/punctual/' })).toBe('/punctual')
})

test('both must name the same one', () => {
  const env = { PUNCTUAL_PUBLIC_URL: 'https://a.example/one' }
  expect(basePathOf({ ...env, PUNCTUAL_BASE_PATH: '/one' })).toBe('/one')
  expect(() => basePathOf({ ...env, PUNCTUAL_BASE_PATH: '/two' })).toThrow('they must name the same path')
})

test.each(['/api', '/assets/x', '/echo', '//evil.example'])('a public URL must not end with %s', (path) => {
  const allowed = 'allowed: a path such as /punctual'
  expect(() => basePathOf({ PUNCTUAL_PUBLIC_URL: `https://a.example${path}` })).toThrow(allowed)
  expect(() =>
    basePathOf({ PUNCTUAL_PUBLIC_URL: `https://a.example${path}`, PUNCTUAL_BASE_PATH: '/' }),
  ).toThrow(allowed)
})

test.each(['punctual', '/a//b', '/a/..', '/.hidden', '/a?b', '/a b', '/api', '/api/x', '/assets', '/echo'])(
  '%s is no base path',
  (text) => {
    expect(() => basePathOf({ PUNCTUAL_BASE_PATH: text })).toThrow('PUNCTUAL_BASE_PATH is')
  },
)
