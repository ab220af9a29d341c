/** Takes the pictures of docs/images, of a shop with a day behind it: `make screenshots`, or some of them by name. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { createStandaloneWorld } from '../../../support/servers/standalone-world.ts'
import { type Dashboard, enter, openDashboard, show } from '../browser.ts'
import { addressOf } from '../screens.ts'
import { openShop, type Shop } from '../shop/shop.ts'
import { nameTargets } from './names.ts'
import { writePast } from './past.ts'
import { fileOf, IMAGES, PICTURE_SIZE, PICTURES, THEMES } from './pictures.ts'
import { withFewColours } from './png.ts'

/** That of `make run`, as the commands of the documents have it. */
const PORT = '8080'

const wanted = process.argv.slice(2)
const world = createStandaloneWorld()
let dashboard: Dashboard | null = null
try {
  const shop = await openShop(world, { PUNCTUAL_PORT: PORT })
  await writePast(shop.folder, shop.ids.cron_id)
  dashboard = await openDashboard(shop.url)
  for (const theme of THEMES) await takeAll(shop, dashboard, theme)
} finally {
  await dashboard?.close()
  await world.close()
}

async function takeAll(shop: Shop, dashboard: Dashboard, theme: 'light' | 'dark'): Promise<void> {
  mkdirSync(IMAGES, { recursive: true })
  const look = { viewport: PICTURE_SIZE, colorScheme: theme, timezoneId: 'Europe/Berlin', locale: 'en-GB' }
  const page = await dashboard.newPage(look)
  await nameTargets(page, shop)
  await page.goto(shop.url)
  await enter(page, shop.token)
  for (const [name, [route, prepare]] of Object.entries(PICTURES)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue
    await show(page, addressOf(route, shop.ids))
    await prepare?.(page)
    writeFileSync(join(IMAGES, fileOf(name, theme)), await taken(page))
  }
  await page.unrouteAll({ behavior: 'ignoreErrors' })
}

async function taken(page: Page): Promise<Buffer> {
  // The stream of events brings them.
  await page.getByText(/^\d+ pending$/).waitFor()
  await page.evaluate('document.fonts.ready')
  return withFewColours(await page.screenshot({ animations: 'disabled', caret: 'hide' }))
}
