import { expect, test } from 'vitest'
import { loadApiSettings, loadStandaloneSettings } from '../../../src/settings/role-settings.ts'

const OIDC = {
  PUNCTUAL_PUBLIC_URL: 'https://punctual.example.com/',
  PUNCTUAL_OIDC_ISSUER: 'https://id.example.com/realms/main',
  PUNCTUAL_OIDC_CLIENT_ID: 'punctual',
  PUNCTUAL_OIDC_CLIENT_SECRET: 'canary-secret',
  PUNCTUAL_OIDC_GROUP_ROLES: '{"ops": "admin", "devs": {"shop": "editor"}}',
}
const SHARED = { PUNCTUAL_REDIS_URL: 'redis://a', PUNCTUAL_SECRETS_KEY: Buffer.alloc(32).toString('base64') }

test('a provider is read whole', () => {
  const settings = loadStandaloneSettings(OIDC, {})
  expect(settings).toMatchObject({
    publicUrl: 'https://punctual.example.com',
    oidcIssuer: OIDC.PUNCTUAL_OIDC_ISSUER,
    oidcGroupRoles: new Map([
      ['ops', new Map([['default', 'admin']])],
      ['devs', new Map([['shop', 'editor']])],
    ]),
  })
})

test.each([
  ['PUNCTUAL_PUBLIC_URL', /PUNCTUAL_PUBLIC_URL is not set/],
  ['PUNCTUAL_OIDC_CLIENT_ID', /PUNCTUAL_OIDC_CLIENT_ID is not set/],
  ['PUNCTUAL_OIDC_CLIENT_SECRET', /PUNCTUAL_OIDC_CLIENT_SECRET is not set/],
  ['PUNCTUAL_OIDC_GROUP_ROLES', /PUNCTUAL_OIDC_GROUP_ROLES is not set/],
])('without %s it is refused', (variable, message) => {
  expect(() => loadStandaloneSettings({ ...OIDC, [variable]: '' }, {})).toThrow(message)
})

test('in a cluster RBAC may decide instead of groups', () => {
  const env = { ...OIDC, ...SHARED, PUNCTUAL_OIDC_GROUP_ROLES: '' }
  expect(loadApiSettings({ ...env, PUNCTUAL_RESOURCES: 'kubernetes' }, {}).oidcGroupRoles).toBeNull()
  expect(() => loadApiSettings({ ...env, PUNCTUAL_RESOURCES: './resources' }, {})).toThrow(
    /PUNCTUAL_OIDC_GROUP_ROLES is not set/,
  )
})

test.each([
  ['PUNCTUAL_OIDC_ISSUER', 'http://id.example.com'],
  ['PUNCTUAL_PUBLIC_URL', 'https://user@punctual.example.com'],
  ['PUNCTUAL_OIDC_GROUP_ROLES', '{"ops": "root"}'],
  ['PUNCTUAL_OIDC_GROUP_ROLES', '["ops"]'],
  ['PUNCTUAL_OIDC_GROUP_ROLES', '{}'],
  ['PUNCTUAL_OIDC_GROUP_ROLES', '{"ops": null}'],
])('%s must not be %s', (variable, value) => {
  expect(() => loadStandaloneSettings({ ...OIDC, [variable]: value }, {})).toThrow(`${variable} is `)
})

test('users of the cluster need a cluster', () => {
  const env = { ...SHARED, PUNCTUAL_KUBERNETES_USERS: 'jwt' }
  expect(() => loadApiSettings({ ...env, PUNCTUAL_RESOURCES: './resources' }, {})).toThrow(
    /PUNCTUAL_KUBERNETES_USERS needs PUNCTUAL_RESOURCES=kubernetes/,
  )
  expect(loadApiSettings({ ...env, PUNCTUAL_RESOURCES: 'kubernetes' }, {}).kubernetesUsers).toBe('jwt')
})
