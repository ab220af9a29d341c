/** Every screen: with the data of a shop, without any, in both themes, wide and narrow; for axe, and without a report. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createStandaloneWorld } from '../support/servers/standalone-world.ts'
import {
  type Dashboard,
  enter,
  faultsOf,
  ONE_LOOK,
  openDashboard,
  show,
  ALL_LOOKS,
  whyNoBrowser,
} from './support/browser.ts'
import { addressOf, routesOfScreens } from './support/screens.ts'
import { writeNoResources } from './support/shop/resources.ts'
import { openShop, type Shop } from './support/shop/shop.ts'

/** Of each screen: its title, what the shop shows there, and what a team without anything. */
const SCREENS: Readonly<Record<string, readonly [title: RegExp, full: string, empty: string]>> = {
  '/': [/^Overview$/, 'Oldest startable', 'Your first job'],
  '/queues': [/^Queues$/, 'search-index', 'No queues yet'],
  '/queues/new': [/^Queues$/, 'Create the queue', 'No queues yet'],
  '/queues/:queue_id': [/^webhooks$/, 'Alerts are muted', 'There is no such queue'],
  '/jobs': [/^Jobs$/, 'emails', 'No jobs yet'],
  '/jobs/:job_id': [/Job/, 'Succeeded with attempt 4', 'There is no such job'],
  '/dead-letters': [/^Dead letters$/, 'webhooks', 'No dead letters'],
  '/send': [/^Send a job$/, 'Send 1 job', 'Send 1 job'],
  '/bulk': [/^Bulk actions$/, 'crm-sync', 'No bulk actions yet'],
  '/bulk/:bulk_id': [/^Replay/, 'What became of the new jobs', 'There is no such bulk action'],
  '/crons': [/^Crons$/, 'nightly-digest', 'No crons yet'],
  '/crons/new': [/^Crons$/, 'Create the cron', 'No crons yet'],
  '/crons/:cron_id': [/^poll-stock$/, 'Next runs', 'There is no such cron'],
  '/issues': [/^Issues$/, 'queue', 'No issue is open'],
  '/issues/:issue_id': [/: /, 'Sample', 'There is no such issue'],
  '/alerts': [/^Alerts$/, 'partner-report', 'No alerts'],
  '/alerts/:alert_id': [/ · (?:queue|cron) /, 'partner-desk', 'There is no such alert'],
  '/maintenance': [/^Maintenance$/, 'database-move', 'No maintenance windows'],
  '/notifications': [/^Notifications$/, 'partner-desk', 'No channels yet'],
  '/access': [/^Access$/, 'orders-service', 'No tokens yet'],
  '/audit': [/^Audit log$/, 'thumbnails', ''],
  '/status': [/^Status$/, 'Redis', 'Quotas of the team'],
}

/** Those whose rows are links. */
const LISTS = ['/queues', '/jobs', '/crons', '/issues', '/alerts', '/bulk']

const world = createStandaloneWorld()
const missing = whyNoBrowser()
let shop: Shop
let full: Page
let empty: Page
let dashboards: readonly Dashboard[] = []

beforeAll(async () => {
  if (missing !== null) return
  shop = await openShop(world)
  const ofShop = await openDashboard(shop.url)
  const folder = world.newFolder()
  writeNoResources(folder)
  const { program } = await world.start(folder)
  const ofNobody = await openDashboard(String((await program.logged('Standalone runs'))['url']))
  dashboards = [ofShop, ofNobody]
  full = await ofShop.logIn(shop.token)
  empty = await ofNobody.logIn(readFileSync(join(folder, 'token'), 'utf8').trim())
}, 180_000)
afterEach(() => {
  for (const dashboard of dashboards) assert.deepEqual(dashboard.reported(), [])
})
afterAll(async () => {
  for (const dashboard of dashboards) await dashboard.close()
  await world.close()
})

test('the list of screens is that of the router', () => {
  expect(Object.keys(SCREENS)).toEqual(routesOfScreens())
})

describe.skipIf(missing !== null)(`a browser (${missing ?? 'there is one'})`, () => {
  describe.each(Object.entries(SCREENS))('%s', (route, [title, ofShop, ofNobody]) => {
    test('shows what there is', async () => {
      await show(full, addressOf(route, shop.ids))
      expect(await full.locator('main h1').first().innerText()).toMatch(title)
      await shows(full, ofShop)
      expect(await faultsOf(full, ALL_LOOKS)).toEqual([])
      expect(await full.locator('main [role=alert]').allInnerTexts()).toEqual([])
    })

    test('shows that there is nothing', async () => {
      await show(
        empty,
        addressOf(route, {
          queue_id: 999,
          job_id: 999,
          bulk_id: 999,
          cron_id: 999,
          alert_id: 999,
          issue_id: '999-other',
        }),
      )
      await shows(empty, ofNobody)
      expect(await faultsOf(empty, ONE_LOOK)).toEqual([])
    })
  })

  test.each(Object.keys(SCREENS))('%s is reached by keyboard, past what is around it', async (route) => {
    await show(full, addressOf(route, shop.ids))
    await full.keyboard.press('Tab')
    await full.keyboard.press('Enter')
    await full.keyboard.press('Tab')
    const focused = full.locator('main :focus')
    expect(await focused.count()).toBe(1)
    expect(await focused.evaluate('(one) => getComputedStyle(one).outlineStyle')).not.toBe('none')
  })

  test.each(LISTS)('the rows of %s are walked by keyboard, and one is opened', async (route) => {
    await show(full, route)
    await full.keyboard.press('j')
    await full.keyboard.press('j')
    await full.keyboard.press('k')
    await full.keyboard.press('Enter')
    await full.waitForURL((url) => url.pathname.startsWith(`${route}/`))
    expect(await full.locator('main h1').first().innerText()).not.toBe('')
  })

  test('a path without a screen says so', async () => {
    await show(full, '/nowhere/at-all')
    await full.getByText('There is no such page').waitFor()
    expect(await faultsOf(full)).toEqual([])
  })

  test('the login is clean too', async () => {
    const [dashboard] = dashboards
    const page = await dashboard!.newPage()
    await page.goto(shop.url)
    await page.getByLabel('Token').waitFor()
    expect(await faultsOf(page, ALL_LOOKS)).toEqual([])
    await enter(page, shop.token)
  })
})

/** @param text '' = the screen is not filled yet */
async function shows(page: Page, text: string): Promise<void> {
  if (text !== '') await page.locator('main').getByText(text).filter({ visible: true }).first().waitFor()
}
