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
const NAME = 'ada'

const wanted = process.argv.slice(2)
const world = createStandaloneWorld()
let dashboard: Dashboard | null = null
try {
  const shop = await openShop(world, { PUNCTUAL_PORT: PORT })
  await writePast(shop.folder, shop.ids.cron_id)
  dashboard = await openDashboard(shop.url)
  const { body } = await shop.client.send<{ token: string }>('POST', '/api/tokens', { name: NAME })
  for (const theme of THEMES) await takeAll(shop, { dashboard, theme, token: body.token })
} finally {
  await dashboard?.close()
  await world.close()
}

async function takeAll(
  shop: Shop,
  { dashboard, theme, token }: { dashboard: Dashboard; theme: 'light' | 'dark'; token: string },
): Promise<void> {
  mkdirSync(IMAGES, { recursive: true })
  const look = { viewport: PICTURE_SIZE, colorScheme: theme, timezoneId: 'Europe/Berlin', locale: 'en-GB' }
  const page = await dashboard.newPage(look)
  await nameTargets(page, shop)
  await page.goto(shop.url)
  await enter(page, token)
  for (const [name, [route, prepare]] of Object.entries(PICTURES)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue
    await show(page, addressOf(route, shop.ids))
    await prepare?.(page)
    writeFileSync(join(IMAGES, fileOf(name, theme)), await taken(page))
  }
  await page.unrouteAll({ behavior: 'ignoreErrors' })
}

async function taken(page: Page): Promise<Buffer> {
  // Until then figures of the top are not there.
  await page.getByText('Live', { exact: true }).first().waitFor()
  await page.evaluate('document.fonts.ready')
  return withFewColours(await page.screenshot({ animations: 'disabled', caret: 'hide' }))
}
