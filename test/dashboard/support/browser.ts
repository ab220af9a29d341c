/** Chromium with the dashboard of a standalone in it. What the browser reports is kept, and fails a test that asks. */
import { existsSync } from 'node:fs'
import { AxeBuilder } from '@axe-core/playwright'
import { type Browser, chromium, type ConsoleMessage, type Page } from 'playwright-core'
import { readBuiltDashboard } from '../../../src/api/dashboard/built-dashboard.ts'

const CHROMIUM = '/usr/bin/chromium'
const WIDE = 1280
const LOOKS = [
  { colorScheme: 'light', width: WIDE },
  { colorScheme: 'dark', width: 375 },
] as const
const HEIGHT = 900
/** A refused request is in the console whatever the page does. */
const REFUSED = /the server responded with a status of 4(?:04|09|22)/

/** Why nothing can be tested in a browser here; null = it can. */
export function whyNoBrowser(): string | null {
  if (readBuiltDashboard() === null) return 'the dashboard is not built: make build'
  return existsSync(CHROMIUM) ? null : 'there is no Chromium: apt-get install chromium'
}

export interface Dashboard {
  /** A new browser session, logged in with a token. */
  logIn(token: string): Promise<Page>
  /** Errors and warnings of the console, of scripts and of the policy for content, and dialogs; since it was asked last. */
  reported(): readonly string[]
  close(): Promise<void>
}

export async function openDashboard(url: string): Promise<Dashboard> {
  const browser: Browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: ['--no-sandbox', '--disable-background-networking', '--disable-component-update'],
  })
  let reports: string[] = []
  const onConsole = (message: ConsoleMessage): void => {
    const isBad = message.type() === 'error' || message.type() === 'warning'
    if (isBad && !REFUSED.test(message.text())) reports.push(message.text())
  }
  return {
    logIn: async (token) => {
      const context = await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'] })
      const page = await context.newPage()
      page.on('console', onConsole)
      page.on('pageerror', ({ message }) => reports.push(message))
      page.on('dialog', (dialog) => {
        reports.push(`a dialog: ${dialog.message()}`)
        void dialog.dismiss()
      })
      await page.setViewportSize({ width: WIDE, height: HEIGHT })
      await page.goto(`${url}/`)
      await page.getByLabel('Token').fill(token)
      await page.getByRole('button', { name: 'Log in', exact: true }).click()
      await page.getByRole('navigation', { name: 'Screens' }).waitFor()
      return page
    },
    reported: () => {
      const found = reports
      reports = []
      return found
    },
    close: () => browser.close(),
  }
}

/** What axe finds, and what makes the page wider than the window: both themes and both widths are looked at, in pairs. */
export async function faultsOf(page: Page): Promise<readonly string[]> {
  const faults: string[] = []
  for (const { colorScheme, width } of LOOKS) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await page.setViewportSize({ width, height: HEIGHT })
    const where = `${colorScheme}, ${width} px`
    const { violations } = await new AxeBuilder({ page }).analyze()
    for (const { id, nodes } of violations) {
      faults.push(`${where}: ${id} of ${nodes.map(({ target }) => target.join(' ')).join(', ')}`)
    }
    const over = await page.evaluate('document.scrollingElement.scrollWidth - innerWidth')
    if (Number(over) > 0) faults.push(`${where}: ${Number(over)} px too wide`)
  }
  await page.setViewportSize({ width: WIDE, height: HEIGHT })
  return faults
}
