/** What runs on this machine, under the names it would have elsewhere: pictures then do not change with ports. */
import type { Page } from 'playwright-core'
import { CLOSED } from '../shop/jobs.ts'
import type { Shop } from '../shop/shop.ts'

/** Of groups of dead letters, which have a host without its port. */
const GROUP = /\{[^{}]*?"queue":"([\w-]+)"[^{}]*?"host":"127\.0\.0\.1"/g
/** Of issues, whose host has none either. */
const ISSUE = /"name":"([\w-]+)"\},"failure_reason":[^{}]*?"host":"127\.0\.0\.1"/g
const HOSTS: Readonly<Record<string, string>> = {
  webhooks: 'hooks.partner.example',
  emails: 'api.mailer.example',
  'crm-sync': 'crm.example',
  'partner-report': 'hooks.partner.example',
}

export async function nameTargets(page: Page, { targets }: Shop): Promise<void> {
  const names: ReadonlyArray<readonly [real: string, shown: string]> = [
    [targets.mail.url, 'https://api.mailer.example'],
    [targets.partner.url, 'https://hooks.partner.example'],
    [targets.search.url, 'https://search.shop.example'],
    [targets.payments.url, 'https://api.payments.example'],
    [CLOSED, 'https://crm.example'],
  ]
  const hosts = names.map(
    ([real, shown]) => [real.slice('http://'.length), shown.slice('https://'.length)] as const,
  )
  await page.route(
    ({ pathname }) => pathname.startsWith('/api/') && pathname !== '/api/events',
    async (route) => {
      const asked = await route.request().allHeaders()
      // What is sent from here has no origin by itself.
      const response = await route.fetch({ headers: { ...asked, 'sec-fetch-site': 'same-origin' } })
      let body = await response.text()
      for (const [real, shown] of [...names, ...hosts]) body = body.replaceAll(real, shown)
      for (const within of [GROUP, ISSUE]) {
        body = body.replaceAll(within, (whole, name: string) =>
          whole.replace('127.0.0.1', HOSTS[name] ?? '127.0.0.1'),
        )
      }
      const { 'content-length': _, ...headers } = response.headers()
      await route.fulfill({ status: response.status(), headers, body })
    },
  )
}
