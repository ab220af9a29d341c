/** Chromium with the dashboard of a standalone in it. What the browser reports is kept, and fails a test that asks. */
import { AxeBuilder } from '@axe-core/playwright'
import type { Browser, BrowserContext, ConsoleMessage, Page } from 'playwright-core'
import { isDashboardBuilt } from '../../../src/api/dashboard/built-dashboard.ts'
import { chromiumObstacle, launchChromium } from './chromium.ts'

const WIDE = 1280
const NARROW = 375
const HEIGHT = 900
/** A refused request is in the console whatever the page does. */
const REFUSED = /the server responded with a status of 4(?:04|09|22)/
/** Beside what Chromium writes into the console: a report names the part of the policy. */
const TELL_VIOLATIONS = `addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI }) =>
  console.error('the policy for content blocks ' + effectiveDirective + ' ' + blockedURI))`

/** A theme and a width, and what axe asks there: everything, how colours stand out, or nothing but whether it fits. */
interface Look {
  readonly colorScheme: 'light' | 'dark'
  readonly width: number
  readonly asks: 'all' | 'colours' | 'fit'
}

/** Both themes and both widths, in pairs. */
const PAIRS: readonly Look[] = [
  { colorScheme: 'light', width: WIDE, asks: 'all' },
  { colorScheme: 'dark', width: NARROW, asks: 'all' },
]
/** For what has few words, which the same styles show elsewhere. */
export const ONE_LOOK: readonly Look[] = [
  { colorScheme: 'light', width: WIDE, asks: 'all' },
  { colorScheme: 'dark', width: NARROW, asks: 'fit' },
]
/** The other pairs differ from them in little. */
export const ALL_LOOKS: readonly Look[] = [
  ...PAIRS,
  { colorScheme: 'light', width: NARROW, asks: 'fit' },
  { colorScheme: 'dark', width: WIDE, asks: 'colours' },
]

/** Why nothing can be tested in a browser here; null = it can. */
export function whyNoBrowser(): string | null {
  if (!isDashboardBuilt()) return 'the dashboard is not built: make build'
  return chromiumObstacle()
}

export interface Dashboard {
  /** A new browser session, logged in with a token. */
  logIn(token: string): Promise<Page>
  /** A new browser session in which nobody is logged in, with an empty page. */
  newPage(options?: Parameters<Browser['newContext']>[0]): Promise<Page>
  /** Errors and warnings of the console, of scripts and of the policy for content, and dialogs; since it was asked last. */
  reported(): readonly string[]
  close(): Promise<void>
}

export async function openDashboard(url: string): Promise<Dashboard> {
  const browser = await launchChromium()
  let reports: string[] = []
  const onConsole = (message: ConsoleMessage): void => {
    const isBad = message.type() === 'error' || message.type() === 'warning'
    if (isBad && !REFUSED.test(message.text())) reports.push(`${message.text()} ${message.location().url}`)
  }
  const watch = async (context: BrowserContext): Promise<void> => {
    await context.addInitScript(TELL_VIOLATIONS)
    context.on('console', onConsole)
    context.on('weberror', (fault) => reports.push(fault.error().message))
    context.on('dialog', (dialog) => {
      reports.push(`a dialog: ${dialog.message()}`)
      void dialog.dismiss()
    })
  }
  const newPage: Dashboard['newPage'] = async (options) => {
    const context = await browser.newContext({
      permissions: ['clipboard-read', 'clipboard-write'],
      viewport: { width: WIDE, height: HEIGHT },
      reducedMotion: 'reduce',
      ...options,
    })
    await watch(context)
    return context.newPage()
  }
  return {
    newPage,
    logIn: async (token) => {
      const page = await newPage()
      await page.goto(`${url}/`)
      await enter(page, token)
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

/** Logs in where the page asks for it. */
export async function enter(page: Page, token: string): Promise<void> {
  await page.getByLabel('Token').fill(token)
  await page.getByRole('button', { name: 'Log in', exact: true }).click()
  await page.getByRole('navigation', { name: 'Screens' }).waitFor()
}

/** Opens another address, and resolves when its screen shows what it read, or that it could not. */
export async function show(page: Page, path: string): Promise<void> {
  await page.goto(new URL(path, page.url()).href)
  await page.locator('main h1').first().waitFor()
  await page.locator('main .loading').first().waitFor({ state: 'detached' })
}

/** What axe finds, and what makes the page wider than the window, in each look. */
export async function faultsOf(page: Page, looks: readonly Look[] = PAIRS): Promise<readonly string[]> {
  const faults: string[] = []
  for (const { colorScheme, width, asks } of looks) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await page.setViewportSize({ width, height: HEIGHT })
    const where = `${colorScheme}, ${width} px`
    for (const { id, nodes } of asks === 'fit' ? [] : await violationsOf(page, asks)) {
      faults.push(`${where}: ${id} of ${nodes.map(({ target }) => target.join(' ')).join(', ')}`)
    }
    const over = await page.evaluate('document.scrollingElement.scrollWidth - innerWidth')
    if (Number(over) > 0) faults.push(`${where}: ${Number(over)} px too wide`)
  }
  await page.setViewportSize({ width: WIDE, height: HEIGHT })
  return faults
}

async function violationsOf(page: Page, asks: 'all' | 'colours') {
  // There are no frames, for which the other mode opens a page each time.
  const axe = new AxeBuilder({ page }).setLegacyMode()
  const { violations } = await (asks === 'all' ? axe : axe.withRules(['color-contrast'])).analyze()
  return violations
}
