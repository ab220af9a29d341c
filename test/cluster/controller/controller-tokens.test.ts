import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Token, TokenList } from '../../../clients/typescript/src/generated/wire.ts'
import { createApiClient, type ApiClient } from '../../support/servers/api-client.ts'
import { until } from '../../support/until.ts'
import { openControllerWorld, type ControllerWorld } from './controller-world.ts'

let world: ControllerWorld
let url: string
let client: ApiClient

beforeAll(async () => {
  world = await openControllerWorld()
  await world.start()
  const api = await world.startApi()
  url = api.url
  client = createApiClient(url, api.token)
})
afterAll(() => world.close())

test('a token of the API becomes a resource, which holds its hash and never the token', async () => {
  const body = {
    name: 'ci',
    scopes: ['read'],
    queues: ['mails'],
    expires_at: '2099-01-31T00:00:00Z',
    rate_limit: { requests_per_second: 1_000 },
  }
  const made = await client.send<Token>('POST', '/api/tokens', body)
  expect(made.status).toBe(201)
  const { token = '', prefix } = made.body
  const own = createApiClient(url, token)
  expect((await own.send('GET', '/api/me')).body).toMatchObject({
    team: world.namespace,
    subject: 'ci',
    scopes: ['read'],
    queues: ['mails'],
    expires_at: '2099-01-31T00:00:00.000+00:00',
  })
  const resource = await world.get('ApiToken', 'ci')
  expect(resource).toMatchObject({
    metadata: { labels: { 'punctual.dev/origin': 'api' } },
    spec: {
      prefix,
      scopes: ['Read'],
      queues: ['mails'],
      rateLimit: { requestsPerSecond: 1_000, burst: 1_000 },
    },
  })
  expect(JSON.stringify(resource)).not.toContain(token.split('_')[1])

  expect((await client.send('POST', '/api/tokens', { name: 'ci' })).status).toBe(409)
  const { body: list } = await client.send<TokenList>('GET', '/api/tokens')
  expect(list.tokens.map(({ name }) => name)).toEqual(['ci', 'test'])
  expect((await client.send('DELETE', '/api/tokens/ci')).status).toBe(204)
  expect((await own.send('GET', '/api/me')).status).toBe(401)
  await expect(world.get('ApiToken', 'ci')).rejects.toThrow(/not found/)
})

test('an edit of the resource limits a token, and its removal ends it', async () => {
  const { body } = await client.send<Token>('POST', '/api/tokens', { name: 'edited' })
  const own = createApiClient(url, body.token ?? '')
  expect((await own.send('GET', '/api/tokens')).status).toBe(200)
  const { spec } = (await world.get('ApiToken', 'edited')) as unknown as { spec: object }
  await world.apply('ApiToken', 'edited', { ...spec, scopes: ['Push'] })
  await until('it is limited', async () => (await own.send('GET', '/api/queues')).status === 403)
  await world.apply('ApiToken', 'edited', { ...spec, scopes: ['Push'], expiresAt: '2026-01-01T00:00:00Z' })
  await until('it has expired', async () => (await own.send('GET', '/api/me')).status === 401)
  expect((await own.send('GET', '/api/me')).body).toEqual({ error: 'The authorization token has expired' })
  await world.remove('ApiToken', 'edited')
  await until('it is unknown', async () => {
    const { body: answer } = await own.send<{ error: string }>('GET', '/api/me')
    return answer.error === 'Invalid authorization token'
  })
})
