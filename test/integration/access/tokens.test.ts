import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Token, TokenList } from '../../../clients/typescript/src/generated/wire.ts'
import { startInstallation, type Api, type Installation } from '../../support/engine/installation.ts'
import { createApiClient, type ApiClient } from '../../support/servers/api-client.ts'
import { until } from '../../support/until.ts'

let here: Installation
let second: Api

beforeAll(async () => {
  here = await startInstallation({ executors: 0 })
  second = await here.startApi()
})
afterAll(() => here.close())

async function create(body: object, maker: ApiClient = here.client): Promise<Token> {
  const { status, body: made } = await maker.send<Token>('POST', '/api/tokens', body)
  expect(status).toBe(201)
  return made
}

const statusAt = async ({ url }: Api, token: string, path = '/api/me') =>
  (await createApiClient(url, token).send('GET', path)).status

test('a token holds at every API from its answer on, and nowhere once it is revoked', async () => {
  const { token = '' } = await create({ name: 'reader', scopes: ['read'] })
  expect(await statusAt(here.api, token)).toBe(200)
  await until('the other API takes it', async () => (await statusAt(second, token)) === 200)
  for (const api of [here.api, second]) {
    expect(await statusAt(api, token, '/api/queues')).toBe(200)
    expect(await statusAt(api, token, '/api/tokens')).toBe(403)
  }
  expect((await here.client.send('DELETE', '/api/tokens/reader')).status).toBe(204)
  expect(await statusAt(here.api, token)).toBe(401)
  await until('the other API refuses it', async () => (await statusAt(second, token)) === 401)
  expect((await here.client.send('DELETE', '/api/tokens/reader')).status).toBe(404)
})

test('a name in use is a conflict, and of two that ask at once one gets it', async () => {
  await create({ name: 'twice' })
  const again = await here.client.send('POST', '/api/tokens', { name: 'twice' })
  expect([again.status, again.body]).toEqual([409, { error: 'There is a token called twice already.' }])
})

test('another team sees none of them, and revokes none', async () => {
  await create({ name: 'ours' })
  const other = await here.clientOfTeam('other')
  const { body } = await other.send<TokenList>('GET', '/api/tokens')
  expect(body.tokens.map(({ name }) => name)).not.toContain('ours')
  expect((await other.send('DELETE', '/api/tokens/ours')).status).toBe(404)
})

test('a token that is limited to queues goes on at any API, and reads no other name in its cursors', async () => {
  const terms = { scopes: ['read', 'admin'], queues: ['mail'] }
  const { token = '' } = await create({ name: 'limited-z', ...terms })
  for (const name of ['limited-a', 'limited-b']) await create({ name, ...terms })
  for (const name of ['limited-a-hidden', 'limited-b-hidden']) await create({ name })
  const [one, other] = [here.api, second].map(({ url }) => createApiClient(url, token))
  await until('the other API has them all', async () => {
    const answer = await other?.send<Partial<TokenList>>('GET', '/api/tokens')
    return answer?.body.tokens?.length === 3
  })
  const names: string[] = []
  let cursor: string | null = null
  for (let asked = 0; asked === 0 || cursor !== null; asked += 1) {
    const client = asked % 2 === 0 ? one : other
    const query: string = cursor === null ? '' : `&cursor=${cursor}`
    const { body } = (await client?.send<TokenList>('GET', `/api/tokens?limit=1${query}`)) ?? {}
    names.push(...(body?.tokens ?? []).map(({ name }) => name))
    cursor = body?.next_cursor ?? null
    expect(Buffer.from(cursor ?? '', 'base64url').toString()).not.toContain('limited')
  }
  expect(names).toEqual(['limited-a', 'limited-b', 'limited-z'])
})

test('pages of a list have each token once', async () => {
  for (const name of ['page-a', 'page-b', 'page-c']) await create({ name })
  const names: string[] = []
  let cursor: string | null = null
  do {
    const query: string = cursor === null ? '' : `&cursor=${cursor}`
    const { body }: { body: TokenList } = await here.client.send<TokenList>(
      'GET',
      `/api/tokens?limit=1${query}`,
    )
    names.push(...body.tokens.map(({ name }) => name))
    cursor = body.next_cursor
  } while (cursor !== null)
  expect(names.filter((name) => name.startsWith('page-'))).toEqual(['page-a', 'page-b', 'page-c'])
  expect(new Set(names).size).toBe(names.length)
})

test('no token is in Redis, its files, the logs or lists', async () => {
  const made = await create({ name: 'canary', scopes: ['push'] })
  const token = made.token ?? ''
  const client = createApiClient(here.api.url, token)
  expect((await client.send('POST', '/api/jobs', { queue: 'q', url: 'nonsense' })).status).toBe(422)
  expect((await client.send('DELETE', `/api/tokens/${token}`)).status).toBe(403)
  expect((await here.client.send('DELETE', `/api/tokens/${token}`)).status).toBe(404)
  const { client: redis } = here.redis
  await redis.config('SET', 'rdbcompression', 'no')
  await redis.save()
  const [, folder] = (await redis.config('GET', 'dir')) as [string, string]
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((file) => file.isFile())
  const stored = files.map((file) => readFileSync(join(file.parentPath, file.name), 'latin1')).join('\n')
  const log = [here.api, second].map(({ program }) => JSON.stringify(program.log)).join('\n')
  const { body: list } = await here.client.send('GET', '/api/tokens')
  // What is looked through would show it: the name of the token is there.
  expect(stored).toContain('canary')
  const secret = token.split('_')[1] ?? ''
  expect(secret).toHaveLength(43)
  for (const text of [stored, log, JSON.stringify(list)]) expect(text).not.toContain(secret)
})
