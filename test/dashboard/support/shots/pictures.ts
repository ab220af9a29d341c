/** The pictures of docs/images. */
import { join } from 'node:path'
import type { Page } from 'playwright-core'

export const IMAGES = join(import.meta.dirname, '../../../../docs/images')
export const PICTURE_SIZE = { width: 1280, height: 800 }
export const THEMES = ['light', 'dark'] as const

/** By the name of the picture: the route with its query, and what is done there before. */
export const PICTURES: Readonly<
  Record<string, readonly [route: string, prepare?: (page: Page) => Promise<void>]>
> = {
  overview: ['/?range=24h'],
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
  access: ['/access'],
  audit: ['/audit'],
  palette: ['/?range=24h', openPalette],
  // Last, as figures of queues are read anew after some seconds.
  queues: ['/queues'],
}

/** @param theme one of THEMES */
export function fileOf(name: string, theme: string): string {
  return `${name}-${theme}.png`
}

async function openPalette(page: Page): Promise<void> {
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').fill('em')
  await page.getByRole('option', { name: 'emails' }).first().waitFor()
}
