/**
 * The pictures of docs/images. Every run holds that they are there, have their size and are shown; `make screenshots`
 * takes them anew, of a shop with a day behind it.
 */
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createStandaloneWorld } from '../support/servers/standalone-world.ts'
import { type Dashboard, enter, openDashboard, show } from './support/browser.ts'
import { addressOf } from './support/screens.ts'
import { nameTargets } from './support/shots/names.ts'
import { writePast } from './support/shots/past.ts'
import { sizeOfPng, withFewColours } from './support/shots/png.ts'
import { openShop, type Shop } from './support/shop/shop.ts'

const ROOT = join(import.meta.dirname, '../..')
const IMAGES = join(ROOT, 'docs/images')
const BYTES_MAX = 2_500_000
const SIZE = { width: 1280, height: 800 }
const THEMES = ['light', 'dark'] as const
const isTaken = !['', undefined].includes(process.env['SCREENSHOTS'])

/** By the name of the picture: the route, its query, and what is done there before. */
const SHOTS: Readonly<Record<string, readonly [route: string, prepare?: (page: Page) => Promise<void>]>> = {
  overview: ['/?range=24h'],
  queues: ['/queues'],
  queue: ['/queues/:queue_id?range=24h'],
  jobs: ['/jobs'],
  chain: ['/jobs/:job_id'],
  'dead-letters': ['/dead-letters'],
  send: ['/send?from=:job_id'],
  bulk: ['/bulk/:bulk_id'],
  crons: ['/crons'],
  cron: ['/crons/:cron_id'],
  alerts: ['/alerts'],
  maintenance: ['/maintenance'],
  notifications: ['/notifications'],
  palette: ['/?range=24h', openPalette],
}
const FILES = Object.keys(SHOTS).flatMap((name) => THEMES.map((theme) => `${name}-${theme}.png`))

if (isTaken) {
  describe('the pictures are taken', () => {
    const world = createStandaloneWorld()
    let shop: Shop
    let dashboard: Dashboard
    const pages = new Map<string, Page>()

    beforeAll(async () => {
      mkdirSync(IMAGES, { recursive: true })
      // The port of `make run`, as the commands of the documents have it.
      shop = await openShop(world, { PUNCTUAL_PORT: '8080' })
      await writePast(shop.folder, shop.ids.cron_id)
      dashboard = await openDashboard(shop.url)
      const { body } = await shop.client.send<{ token: string }>('POST', '/api/tokens', { name: 'ada' })
      for (const colorScheme of THEMES) {
        const look = { viewport: SIZE, colorScheme, timezoneId: 'Europe/Berlin', locale: 'en-GB' } as const
        const page = await dashboard.newPage(look)
        await nameTargets(page, shop)
        await page.goto(shop.url)
        await enter(page, body.token)
        pages.set(colorScheme, page)
      }
    }, 300_000)
    afterAll(async () => {
      for (const page of pages.values()) await page.unrouteAll({ behavior: 'ignoreErrors' })
      await dashboard.close()
      await world.close()
    })

    test.each(Object.entries(SHOTS))('%s', async (name, [route, prepare]) => {
      for (const [theme, page] of pages) {
        await show(page, addressOf(route, shop.ids))
        await page
          .getByText(/^Live$/)
          .first()
          .waitFor()
        await prepare?.(page)
        await page.evaluate('document.fonts.ready')
        const taken = await page.screenshot({ animations: 'disabled', caret: 'hide' })
        writeFileSync(join(IMAGES, `${name}-${theme}.png`), withFewColours(taken))
      }
    })
  })
}

test('docs/images has a picture of each screen in both themes, and no other', () => {
  expect(globSync('*', { cwd: IMAGES }).toSorted()).toEqual(FILES.toSorted())
  const pictures = FILES.map((name) => readFileSync(join(IMAGES, name)))
  expect(pictures.map(sizeOfPng)).toEqual(FILES.map(() => SIZE))
  expect(pictures.reduce((sum, { length }) => sum + length, 0)).toBeLessThan(BYTES_MAX)
})

test('the documents show all of them, and none that is not there', () => {
  const shown = ['README.md', 'docs/dashboard.md']
    .flatMap((page) => [...readFileSync(join(ROOT, page), 'utf8').matchAll(/[\w./-]*images\/[\w-]+\.png/g)])
    .map(([path]) => basename(path))
  expect([...new Set(shown)].toSorted()).toEqual(FILES.toSorted())
})

async function openPalette(page: Page): Promise<void> {
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').fill('em')
  await page.getByRole('option', { name: 'emails' }).first().waitFor()
}
