import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Cron, CronPreview } from '../../clients/typescript/src/client.ts'
import type { ApiClient } from '../support/servers/api-client.ts'
import { type Dashboard, faultsOf } from './support/browser.ts'
import { createDashboardWorld } from './support/dashboard-world.ts'
import { writeNoResources } from './support/shop/resources.ts'

const { missing, open: openWorld } = createDashboardWorld()
const ZONE = 'America/New_York'
const LATER = { timeout: 20_000 }
const NIGHTLY = { cron_expression: '30 2 * * *', time_zone: ZONE }
let url = ''
let client: ApiClient
let dashboard: Dashboard
let page: Page

beforeAll(async () => {
  if (missing !== null) return
  ;({ url, client, dashboard, page } = await openWorld(writeNoResources))
})

const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true })
const field = (name: string) => page.getByRole('dialog').getByLabel(name, { exact: true })
const records = () => page.getByRole('table', { name: 'Records of ticks and runs' }).locator('tbody tr')

async function made(given: object): Promise<number> {
  const body = { url: `${url}/echo`, cron_expression: '0 0 1 1 *', ...given }
  return (await client.send<{ id: number }>('POST', '/api/crons', body)).body.id
}

async function cron(id: number): Promise<Cron> {
  return (await client.send<Cron>('GET', `/api/crons/${id}`)).body
}

async function ended(id: number, runs: number): Promise<void> {
  const results = async () => {
    const { body } = await client.send<{ runs: ReadonlyArray<{ result: string }> }>(
      'GET',
      `/api/crons/${id}/runs`,
    )
    return body.runs.filter(({ result }) => result !== 'running').length
  }
  await expect.poll(results, LATER).toBe(runs)
}

describe.skipIf(missing !== null)(`a browser (${missing ?? 'there is one'})`, () => {
  test('makes a first cron, and says what is wrong with it while it is typed', async () => {
    await page.getByRole('link', { name: 'Crons', exact: true }).click()
    await page.getByText('No crons yet').waitFor()
    expect(await faultsOf(page)).toEqual([])
    await page.getByRole('link', { name: 'New cron' }).first().click()
    expect(new URL(page.url()).pathname).toBe('/crons/new')
    await field('Cron expression').fill('30 25 * * *')
    await page.getByText('has "25" as hour').waitFor()
    expect(await field('Cron expression').getAttribute('aria-invalid')).toBe('true')
    await field('Cron expression').fill(NIGHTLY.cron_expression)
    await field('Time zone').fill('Mars/Olympus')
    await page.getByText(/"Mars\/Olympus"/).waitFor()
    await field('Time zone').fill(ZONE)
    await page.getByText('At 02:30').waitFor()
    await page.getByRole('table', { name: 'Next runs' }).waitFor()
    expect(await faultsOf(page)).toEqual([])
    await field('Name').fill('Nightly')
    await field('URL').fill('not a url')
    await field('Headers').fill('X-Kind: full')
    await field('Payload').fill('{"a": 12345678901234567890}')
    await button('Create the cron').click()
    await page.getByText('Some fields need another value.').waitFor()
    expect(await field('URL').getAttribute('aria-invalid')).toBe('true')
    await field('URL').fill(`${url}/echo`)
    await button('Create the cron').click()
    await page.getByRole('heading', { name: 'Nightly' }).waitFor()
    const id = Number(new URL(page.url()).pathname.split('/').at(-1))
    expect(await cron(id)).toMatchObject({
      ...NIGHTLY,
      name: 'Nightly',
      headers: { 'X-Kind': 'full' },
      payload: '{"a": 12345678901234567890}',
    })
    expect(await faultsOf(page)).toEqual([])
  })

  test('has an address for its forms, which leads back to the list when they are closed', async () => {
    await page.goto(`${url}/crons/new`)
    await page.getByRole('dialog', { name: 'New cron' }).waitFor()
    expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe('Crons')
    await page.keyboard.press('Escape')
    await page.waitForURL(`${url}/crons`)
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    const id = await made({ name: 'by address' })
    await page.goto(`${url}/crons/${id}?edit=settings`)
    await expect.poll(() => field('Name').inputValue(), LATER).toBe('by address')
    await page.keyboard.press('Escape')
    await page.waitForURL(`${url}/crons/${id}`)
  })

  test('lists the ticks of the scheduler in both zones, and those of the day that clocks change', async () => {
    const id = await made({ name: 'ticks', ...NIGHTLY })
    await page.goto(`${url}/crons/${id}`)
    const { body } = await client.send<CronPreview>('POST', '/api/crons/preview', { ...NIGHTLY, count: 10 })
    const shown = page.getByRole('table', { name: 'Next runs' }).locator('tbody tr:not(.run-times-change)')
    await expect.poll(() => shown.count(), LATER).toBe(10)
    for (const [index, at] of body.next_runs.entries()) {
      const cells = await shown.nth(index).locator('td').allInnerTexts()
      const there = Temporal.Instant.from(at).toZonedDateTimeISO(ZONE)
      expect(cells[0]).toContain(
        `${there.toPlainDate().toString().slice(5)} ${there.toString().slice(11, 16)}`,
      )
      expect(cells[0]).toContain(`UTC−${-there.offsetNanoseconds / 3.6e12}`)
      expect(cells[1]).toContain(new Date(at).toISOString().slice(11, 16))
    }
    const change = Temporal.Now.zonedDateTimeISO(ZONE).getTimeZoneTransition('next')
    const day = change?.toPlainDate().toString()
    await page.getByRole('heading', { name: new RegExp(`^When clocks change: Sun ${day}$`) }).waitFor()
    // In spring there is no 02:30 on that day; in autumn it is there once.
    const isSpring = change?.toString().slice(11, 16) === '03:00'
    const onDay = page.getByRole('table', { name: `Runs on ${day}` }).locator('tbody')
    expect(await onDay.innerText()).toContain(isSpring ? '02:00 → 03:00' : '02:00 → 01:00')
    expect(await onDay.innerText()).toContain(isSpring ? 'Sun 03:00' : 'Sun 02:30')
  })

  test('runs it now, maps its runs, and finds the records of a cell', async () => {
    const id = await made({ name: 'by hand', url: `${url}/echo?fail=99&status=500` })
    await page.goto(`${url}/crons/${id}`)
    await page.getByText('It has not run yet').first().waitFor()
    await button('Run now').click()
    const link = page.getByRole('status').getByRole('link', { name: 'Show it' })
    await link.waitFor()
    await ended(id, 1)
    await expect.poll(() => records().first().innerText(), LATER).toContain('Failed')
    expect(await records().first().innerText()).toContain('Run by hand')
    await button('Failed').click()
    await page.waitForURL(/heat=failed/)
    const cell = button(/: 1 ran, 1 failed, 0 not run$/)
    await cell.click()
    await page.waitForURL(/since=/)
    expect(await cell.getAttribute('aria-pressed')).toBe('true')
    expect(await records().count()).toBe(1)
    expect(await faultsOf(page)).toEqual([])
    await button('Clear').click()
    await expect.poll(() => page.url(), LATER).not.toContain('since=')
    await page.goto(`${url}/crons?state=failing`)
    await page.getByText('1 failed in a row').waitFor()
    expect(await page.locator('[data-rows] > tr').count()).toBe(1)
    expect(await faultsOf(page)).toEqual([])
  })

  test('says what somebody else changed meanwhile, and keeps what was typed', async () => {
    const id = await made({ name: 'edited' })
    await page.goto(`${url}/crons/${id}`)
    await button('Edit').click()
    await field('Name').fill('mine')
    await field('Jitter').fill('60')
    await client.send('PATCH', `/api/crons/${id}`, { name: 'theirs', timeout_seconds: 77 })
    await button('Change 2 settings').click()
    await page.getByText('somebody has changed the cron since you opened it').waitFor()
    await page.getByText('Timeout: 77').waitFor()
    expect(await field('Timeout').inputValue()).toBe('77')
    expect(await field('Name').inputValue()).toBe('mine')
    expect(await faultsOf(page)).toEqual([])
    await button('Change 2 settings').click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(await cron(id)).toMatchObject({ name: 'mine', jitter_seconds: 60, timeout_seconds: 77 })
  })

  test('pauses it with who did it, resumes it and deletes it', async () => {
    const id = await made({ name: 'to and fro' })
    await page.goto(`${url}/crons/${id}`)
    await button('Pause').click()
    await page.getByText('Paused: it does not tick.').waitFor()
    await page.getByText(/paused it/).waitFor()
    expect((await cron(id)).is_active).toBe(false)
    expect(await faultsOf(page)).toEqual([])
    await button('Resume').click()
    await page.getByText('Paused: it does not tick.').waitFor({ state: 'detached' })
    await button('More actions').click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await button('Delete the cron').click()
    await page.getByRole('heading', { name: 'Crons', exact: true }).waitFor()
    expect((await client.send('GET', `/api/crons/${id}`)).status).toBe(404)
    await page.goto(`${url}/crons/${id}`)
    await page.getByText('There is no such cron').waitFor()
  })

  test('shows a viewer nothing to do, no secrets, and hostile strings as what they are', async () => {
    const name = '<img src=x onerror=alert(1)> \u202Ertl'
    const headers = { Authorization: 'Bearer s3cret' }
    const id = await made({ name, headers, url: `${url}/echo?${'x'.repeat(1_500)}` })
    const scopes = { name: 'viewer', scopes: ['read'] }
    const { body } = await client.send<{ token: string }>('POST', '/api/tokens', scopes)
    const viewer = await dashboard.logIn(body.token)
    await viewer.goto(`${url}/crons`)
    await viewer.getByText('rtl').waitFor()
    expect(await viewer.getByRole('button', { name: /Actions for/ }).count()).toBe(0)
    expect(await viewer.getByRole('link', { name: 'New cron' }).count()).toBe(0)
    expect(await faultsOf(viewer)).toEqual([])
    await viewer.goto(`${url}/crons/${id}`)
    await viewer.getByText('Headers and payload are hidden from you').waitFor()
    expect(await viewer.getByRole('button', { name: /Run now|Pause|Edit|More actions/ }).count()).toBe(0)
    expect(await viewer.content()).not.toContain('s3cret')
    expect(await faultsOf(viewer)).toEqual([])
  })
})
