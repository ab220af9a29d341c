/** The documents as a site, in Chromium. */
import { AxeBuilder } from '@axe-core/playwright'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { whyNoBrowser, type Dashboard, openDashboard } from '../support/browser.ts'

const ROOT = join(import.meta.dirname, '../../..')
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
}

describe('the site', () => {
  let folder = ''
  let server: Server
  let browser: Dashboard
  let address = ''

  beforeAll(async () => {
    const obstacle = whyNoBrowser()
    if (obstacle !== null) throw new Error(obstacle)
    folder = mkdtempSync(join(tmpdir(), 'punctual-site-'))
    execFileSync(process.execPath, ['scripts/site.ts', folder], { cwd: ROOT, stdio: 'pipe' })
    server = createServer(({ url = '/' }, response) => {
      try {
        const body = readFileSync(join(folder, url))
        response.setHeader('content-type', TYPES[extname(url)] ?? 'text/plain').end(body)
      } catch {
        response.writeHead(404).end()
      }
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/${version}`
    browser = await openDashboard(address)
  })
  afterAll(async () => {
    await browser?.close()
    server?.close()
    rmSync(folder, { recursive: true, force: true })
  })

  test('finds a page by the keyboard, from a page in a folder', async () => {
    const page = await browser.newPage()
    await page.goto(`${address}/docs/reference/api.html`)
    await page.keyboard.press('/')
    await page.keyboard.type('partner that has a rate limit')
    await page.locator('#found li').first().waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.waitForURL(/respect-a-rate-limit\.html/)
    expect(await page.locator('h1').textContent()).toBe('Call a partner that has a rate limit')
    expect(browser.reported()).toEqual([])
  })

  test('keeps the theme that was chosen', async () => {
    const page = await browser.newPage({ colorScheme: 'light' })
    await page.goto(`${address}/index.html`)
    const background = () =>
      page.evaluate(() => getComputedStyle(document.body.parentElement as Element).backgroundColor)
    const light = await background()
    await page.locator('#theme').click()
    const dark = await background()
    expect(dark).not.toBe(light)
    await page.locator('nav').getByRole('link', { name: 'Install on Kubernetes' }).click()
    await page.locator('h1', { hasText: 'Install' }).waitFor()
    expect(await background()).toBe(dark)
    expect(browser.reported()).toEqual([])
  })

  test.each([
    ['light', 1280, 'index.html'],
    ['dark', 1280, 'docs/reference/api.html'],
    ['dark', 375, 'docs/scaling.html'],
    ['light', 375, 'docs/dashboard.html'],
  ] as const)('is open to all, %s at %i px: %s', async (colorScheme, width, path) => {
    const page = await browser.newPage({ colorScheme, viewport: { width, height: 900 } })
    await page.goto(`${address}/${path}`)
    const { violations } = await new AxeBuilder({ page }).analyze()
    expect(violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 200)}`)).toEqual([])
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width)
    expect(browser.reported()).toEqual([])
  })
})
