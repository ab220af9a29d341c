import { afterAll, beforeAll, expect, test, type TestContext } from 'vitest'
import { readBuiltDashboard } from '../../../../src/api/dashboard/built-dashboard.ts'
import { createStandaloneWorld } from '../../../support/servers/standalone-world.ts'

const world = createStandaloneWorld()
const BASE = '/tools/punctual'
let url = ''

beforeAll(async () => {
  const { program } = await world.start(world.newFolder(), { PUNCTUAL_BASE_PATH: BASE })
  url = String((await program.logged('Standalone runs'))['url'])
})
afterAll(() => world.close())

function needsBuild(context: TestContext): void {
  if (readBuiltDashboard() === null) context.skip('the dashboard is not built: make build')
}

async function page(path: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${url}${path}`, { headers: { accept: 'text/html', ...headers } })
}

test('everything that the page names is there, with and without the base path', async (context) => {
  needsBuild(context)
  const html = await (await page('/')).text()
  expect(html).toContain(`<base href="${BASE}/"`)
  const named = [...html.matchAll(/(?:src|href)="\.\/([^"]+)"/g)].map(([, path]) => path)
  expect(named.length).toBeGreaterThanOrEqual(3)
  for (const prefix of ['', BASE]) {
    for (const path of named) {
      const answer = await page(`${prefix}/${path}`, { 'accept-encoding': 'br' })
      expect([path, answer.status]).toEqual([path, 200])
      expect(answer.headers.get('content-encoding')).toBe('br')
      await answer.arrayBuffer()
    }
    expect((await page(`${prefix}/queues/1`)).status).toBe(200)
    expect((await page(`${prefix}/api/queues`)).status).toBe(401)
    expect((await page(`${prefix}/echo`)).headers.get('content-type')).toBe('application/json')
  }
})

test('the policy for its content allows no inline script, and the page has none', async (context) => {
  needsBuild(context)
  const answer = await page('/')
  const policy = answer.headers.get('content-security-policy') ?? ''
  expect(policy).toContain("script-src 'self';")
  expect(policy).not.toContain('unsafe')
  const html = await answer.text()
  expect(html.replaceAll(/<script[^>]* src="[^"]+"><\/script>/g, '')).not.toMatch(
    /<script|<style| on\w+=| style=/,
  )
})

test('it can be turned off', async () => {
  const { program } = await world.start(world.newFolder(), { PUNCTUAL_DASHBOARD: 'off' })
  const own = String((await program.logged('Standalone runs'))['url'])
  expect((await fetch(`${own}/`, { headers: { accept: 'text/html' } })).status).toBe(404)
})
