import { hash, randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startInstallation, type Installation } from '../../support/engine/installation.ts'
import { anApiToken } from '../../support/principals.ts'
import { until } from '../../support/until.ts'

/** Users are promised two seconds; ten catch a session that waits for something else, on any machine. */
const REVOKED_MS = 10_000
const CANARY = `canary-${randomBytes(12).toString('hex')}`
const OURS = { 'x-punctual-request': '1', 'sec-fetch-site': 'same-origin' }

let here: Installation

beforeAll(async () => {
  here = await startInstallation({ executors: 0 })
  const token = anApiToken('canary', { team: 'default', sha256Hex: hash('sha256', CANARY, 'hex') })
  await here.withCompiler((compiler) => compiler.putToken(token))
  await until(
    'the token is known',
    async () => (await statusOf({ authorization: `Bearer ${CANARY}` })) === 200,
  )
})
afterAll(() => here.close())

async function statusOf(headers: Record<string, string>, url = here.api.url): Promise<number> {
  return (await fetch(`${url}/api/queues`, { headers })).status
}

async function logIn(): Promise<{ cookie: string }> {
  const headers = { authorization: `Bearer ${CANARY}` }
  const answer = await fetch(`${here.api.url}/api/session`, { method: 'POST', headers })
  expect(answer.status).toBe(201)
  return { cookie: (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? '' }
}

/** As one proxy before both would have it, whose port a browser sees: here each API has its own. */
function at(url: string, { cookie }: { readonly cookie: string }): { cookie: string } {
  return { cookie: cookie.replace(/^punctual-\d+/, `punctual-${new URL(url).port}`) }
}

/** Every byte that Redis has on disk. */
async function redisFiles(): Promise<string> {
  const [, folder = ''] = await here.redis.client.config('GET', 'dir')
  await here.redis.client.save()
  const names = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile())
  return names.map((one) => readFileSync(join(one.parentPath, one.name), 'latin1')).join('\n')
}

test('a session holds at every API, until a logout, and neither it nor its token is found anywhere', async () => {
  const second = await here.startApi()
  const [one, other] = [await logIn(), await logIn()]
  expect([await statusOf(one), await statusOf(at(second.url, other), second.url)]).toEqual([200, 200])
  const secret = one.cookie.split('.')[1] ?? ''
  expect(secret).toHaveLength(43)
  const files = await redisFiles()
  expect(files).toContain('punctual:')
  const logs = JSON.stringify([here.api.program.log, second.program.log])
  for (const canary of [CANARY, secret]) {
    expect(files.includes(canary)).toBe(false)
    expect(logs.includes(canary)).toBe(false)
  }
  const out = { method: 'DELETE', headers: { ...at(second.url, one), ...OURS } }
  expect((await fetch(`${second.url}/api/session?everywhere=true`, out)).status).toBe(204)
  expect([await statusOf(one), await statusOf(other)]).toEqual([401, 401])
  const { body } = await here.client.send<{ records: { actor: { name: string }; count: number }[] }>(
    'GET',
    '/api/audit?action=login',
  )
  // Like logins within a minute are one record.
  expect(body.records.map(({ actor }) => actor.name)).toContain('canary')
  expect(body.records.reduce((sum, { count }) => sum + count, 0)).toBe(2)
})

test('a session ends soon after its token', async () => {
  const session = await logIn()
  expect(await statusOf(session)).toBe(200)
  await here.withCompiler((compiler) => compiler.removeToken('default', 'canary'))
  const revokedAtMs = performance.now()
  await until('the session has ended', async () => (await statusOf(session)) === 401)
  expect(performance.now() - revokedAtMs).toBeLessThan(REVOKED_MS)
})
