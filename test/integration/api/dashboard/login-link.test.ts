import { afterAll, expect, test } from 'vitest'
import { isDashboardBuilt } from '../../../../src/api/dashboard/built-dashboard.ts'
import { createStandaloneWorld } from '../../../support/servers/standalone-world.ts'
import { until } from '../../../support/until.ts'

const world = createStandaloneWorld()
afterAll(() => world.close())

function redeem(url: string, code: string, path = '/api/session'): Promise<Response> {
  return fetch(`${url}${path}`, { method: 'POST', headers: { 'x-punctual-code': code } })
}

test('the link of a start logs in once, and the audit log says so', async (context) => {
  if (!isDashboardBuilt()) context.skip('the dashboard is not built: make build')
  const program = world.run(world.newFolder(), { PUNCTUAL_LOG_FORMAT: 'text' })
  const said = () => program.strayLines.join('\n')
  const link = await until('the link', () => /Dashboard {2}(http\S+)\/#code=(\S+)/.exec(said()))
  const [, url = '', code = ''] = link
  const answer = await redeem(url, code)
  expect(answer.status).toBe(201)
  expect(await answer.json()).toMatchObject({ kind: 'token', team: 'default' })
  const cookie = (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
  const { records } = (await (await fetch(`${url}/api/audit`, { headers: { cookie } })).json()) as {
    records: Array<{ action: string; via: string }>
  }
  expect(records.filter(({ action }) => action === 'login').map(({ via }) => via)).toEqual(['dashboard'])
  const again = await redeem(url, code)
  expect([again.status, again.headers.get('set-cookie')]).toEqual([401, null])
  expect(said().split(code)).toHaveLength(2)
})

test('a token makes a code, a session does not, and one that is right is taken after many that are not', async () => {
  const { program, client } = await world.start(world.newFolder())
  const url = String((await program.logged('Standalone runs'))['url'])
  const made = await client.send<{ code: string; expires_at: string }>('POST', '/api/session/code')
  expect(made.status).toBe(201)
  const asked = (code: string) => fetch(`${url}/api/session/code`, { headers: { 'x-punctual-code': code } })
  const offer = await asked(made.body.code)
  expect([offer.status, offer.headers.get('set-cookie')]).toEqual([200, null])
  expect(await offer.json()).toMatchObject({ kind: 'token', team: 'default' })
  // To ask does not use it up.
  const answer = await redeem(url, made.body.code)
  expect(answer.status).toBe(201)
  expect((await asked(made.body.code)).status).toBe(401)
  const cookie = (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
  const headers = { cookie, 'x-punctual-request': '1', 'sec-fetch-site': 'same-origin' }
  expect((await fetch(`${url}/api/session/code`, { method: 'POST', headers })).status).toBe(401)
  const statuses: number[] = []
  for (let i = 0; i < 12; i += 1) statuses.push((await redeem(url, 'x'.repeat(43))).status)
  expect(statuses).toContain(429)
  const next = await client.send<{ code: string }>('POST', '/api/session/code')
  expect((await redeem(url, next.body.code)).status).toBe(201)
  expect(JSON.stringify(program.log)).not.toContain(made.body.code)
})
