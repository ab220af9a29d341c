/** What each kind of token is offered on every screen, and that the server refuses the rest all the same. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { createStandaloneWorld } from '../support/servers/standalone-world.ts'
import { type Dashboard, openDashboard, show, whyNoBrowser } from './support/browser.ts'
import { addressOf, routesOfScreens } from './support/screens.ts'
import { openShop, type Shop } from './support/shop/shop.ts'

const CONTRACT = join(import.meta.dirname, '../../openapi.yaml')
/** First words of what changes something. */
const CHANGES =
  /^(?:Abort|Add|Cancel|Change|Create|Delete|Drain|Edit|Fire|Make|Mark|New|Pause|Purge|Replay|Resume|Retry|Revoke|Rotate|Run|Send|Test)\b/
/** Of them, those that need more than `operate`; a window may be made and changed with it. */
const NOT_FOR_OPERATORS = /^(?:Add|Create|Make|New|Rotate|Revoke|Send)\b/

const world = createStandaloneWorld()
const missing = whyNoBrowser()
let shop: Shop
let dashboard: Dashboard

beforeAll(async () => {
  if (missing !== null) return
  shop = await openShop(world)
  dashboard = await openDashboard(shop.url)
}, 180_000)
afterEach(() => {
  if (missing === null) assert.deepEqual(dashboard.reported(), [])
})
afterAll(async () => {
  if (missing === null) await dashboard.close()
  await world.close()
})

describe.skipIf(missing !== null)(`a browser (${missing ?? 'there is one'})`, () => {
  test('an admin is offered changes on nearly every screen', async () => {
    const offered = await offeredTo(await dashboard.logIn(shop.token), CHANGES)
    expect([...offered.keys()]).toEqual(
      expect.arrayContaining(['/', '/jobs/:job_id', '/dead-letters', '/send']),
    )
  })

  test('a viewer is offered no change anywhere', async () => {
    const viewer = await logInWith('viewer', ['read'])
    expect(await offeredTo(viewer, CHANGES)).toEqual(new Map())
    expect(await acceptedChanges(viewer, new Set(['read']))).toEqual([])
  })

  test('an operator is offered what operating needs, and nothing beyond', async () => {
    const operator = await logInWith('operator', ['operate'])
    const offered = await offeredTo(operator, CHANGES)
    expect([...offered.keys()]).toEqual(
      expect.arrayContaining(['/dead-letters', '/alerts', '/crons/:cron_id']),
    )
    offered.delete('/maintenance')
    expect([...offered.values()].flat().filter((name) => NOT_FOR_OPERATORS.test(name))).toEqual([])
    expect(await acceptedChanges(operator, new Set(['read', 'operate', 'purge']))).toEqual([])
  })

  test('a token that only pushes can send, and is told so everywhere else', async () => {
    const sender = await logInWith('sender', ['push'])
    const told: string[] = []
    for (const route of routesOfScreens()) {
      await show(sender, addressOf(route, shop.ids))
      if (await sender.getByText('You may not see this').isVisible()) told.push(route)
    }
    expect(told).toEqual(routesOfScreens().filter((route) => route !== '/send'))
    await show(sender, '/send')
    await sender.getByRole('button', { name: /^Send 1 job/ }).waitFor()
  })

  test('a token for one queue sees no other, and polls', async () => {
    const limited = await logInWith('limited', ['read', 'operate'], ['emails'])
    await show(limited, '/queues')
    await limited.getByRole('link', { name: 'emails' }).waitFor()
    expect(await limited.locator('main').getByText('webhooks').count()).toBe(0)
    for (const route of routesOfScreens())
      await show(limited, addressOf(route, { ...shop.ids, queue_id: 999 }))
  })
})

async function logInWith(name: string, scopes: readonly string[], queues?: readonly string[]): Promise<Page> {
  const { body } = await shop.client.send<{ token: string }>('POST', '/api/tokens', { name, scopes, queues })
  return dashboard.logIn(body.token)
}

/** Of each route, the buttons whose names begin with such a word and that can be pressed. */
async function offeredTo(page: Page, words: RegExp): Promise<Map<string, string[]>> {
  const offered = new Map<string, string[]>()
  for (const route of routesOfScreens()) {
    await show(page, addressOf(route, shop.ids))
    const buttons = page.locator('.main').locator('button:enabled, a.button').filter({ visible: true })
    const names = (await buttons.allInnerTexts())
      .map((name) => name.trim())
      .filter((name) => words.test(name))
    if (names.length > 0) offered.set(route, names)
  }
  return offered
}

/** Operations that need another permission than these and that the API does not refuse to the session of a page. */
async function acceptedChanges(page: Page, permissions: ReadonlySet<string>): Promise<readonly string[]> {
  const { paths } = parse(readFileSync(CONTRACT, 'utf8')) as {
    paths: Record<string, Record<string, { operationId?: string; 'x-permission'?: string | null }>>
  }
  const beyond = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { 'x-permission': permission }]) =>
      typeof permission !== 'string' || permissions.has(permission)
        ? []
        : [{ method: method.toUpperCase(), path: path.replaceAll(/\{\w+\}/g, '1') }],
    ),
  )
  assert.ok(beyond.length > 5)
  const accepted: string[] = []
  for (const { method, path } of beyond) {
    const answer = await page.request.fetch(`${shop.url}${path}`, {
      method,
      headers: { 'x-punctual-request': '1', 'sec-fetch-site': 'same-origin' },
      ...(method === 'GET' ? {} : { data: {} }),
    })
    if (answer.status() !== 403) accepted.push(`${method} ${path}: ${answer.status()}`)
  }
  return accepted
}
