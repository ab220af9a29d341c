import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import type { MaintenanceWindow } from '../../clients/typescript/src/client.ts'
import type { ApiClient } from '../support/servers/api-client.ts'
import { type Dashboard, faultsOf } from './support/browser.ts'
import { createDashboardWorld } from './support/dashboard-world.ts'

const { missing, open: openWorld } = createDashboardWorld()
let url = ''
let client: ApiClient
let dashboard: Dashboard
let page: Page

beforeAll(async () => {
  if (missing !== null) return
  ;({ url, client, dashboard, page } = await openWorld())
  await client.push({ queue: 'mail', url: `${url}/echo`, delay: 86_400 })
  for (const { id } of await windows()) await client.send('DELETE', `${PATH}/${id}`)
})

const PATH = '/api/maintenance-windows'
/** Of every day, and not of now. */
const HOUR = (new Date().getUTCHours() + 12) % 24
const button = (name: string | RegExp) => page.getByRole('button', { name })
const dialog = () => page.getByRole('dialog')
const banner = () => page.getByRole('region', { name: 'Active maintenance windows' })

async function windows(): Promise<readonly MaintenanceWindow[]> {
  return (await client.send<{ windows: MaintenanceWindow[] }>('GET', PATH)).body.windows
}

describe.skipIf(missing !== null)(`a browser (${missing ?? 'there is one'})`, () => {
  test('previews a window, makes it, and says on every screen what it does', async () => {
    await page.getByRole('link', { name: 'Maintenance' }).click()
    await page.getByText('No maintenance windows').waitFor()
    expect(await faultsOf(page)).toEqual([])
    await page.getByRole('link', { name: 'New window' }).click()
    await dialog().getByLabel('For', { exact: true }).selectOption({ label: 'Queue mail' })
    await dialog().getByLabel('What it does').selectOption('hold')
    await dialog()
      .getByText('As of now it stops 0 ready jobs and 1 job of the queue that is due later.')
      .waitFor()
    await dialog().getByLabel('Name').fill('Not A Name')
    await dialog().getByText('Next openings').waitFor()
    await button('Create the window').click()
    await page.getByText('Some fields need another value.').waitFor()
    expect(await dialog().getByLabel('Name').getAttribute('aria-invalid')).toBe('true')
    expect(await faultsOf(page)).toEqual([])
    await dialog().getByLabel('Name').fill('move')
    await button('Create the window').click()
    await page.getByText('Window move created').waitFor()
    expect(await windows()).toMatchObject([
      { id: 'move', action: 'hold', resource: { kind: 'queue', name: 'mail' }, active: true },
    ])
    await banner()
      .getByText(/^Jobs of queue mail are held, and its alerts are muted until/)
      .waitFor()
    await page.getByRole('link', { name: 'Queues' }).click()
    await banner().waitFor()
    expect(await faultsOf(page)).toEqual([])
    await banner().getByRole('link').click()
    await dialog().getByText('Window move').waitFor()
    await page.keyboard.press('Escape')
  })

  test('says in one line that several are open, what holds jobs first', async () => {
    await client.send('POST', PATH, {
      name: 'quiet',
      start_at: new Date(Date.now() - 60_000).toISOString(),
      end_at: new Date(Date.now() + 3_600_000).toISOString(),
    })
    await banner().getByText('and 1 more window').waitFor()
    await banner()
      .getByText(/^Jobs of queue mail are held/)
      .waitFor()
    await page.setViewportSize({ width: 375, height: 900 })
    expect((await banner().boundingBox())?.height).toBeLessThan(40)
    expect(await faultsOf(page)).toEqual([])
    await client.send('DELETE', `${PATH}/quiet`)
    await banner().getByText('and 1 more window').waitFor({ state: 'detached' })
  })

  test('makes one that opens again and again, and shows it in week and month', async () => {
    await page.getByRole('link', { name: 'New window' }).click()
    await dialog().getByLabel('It opens').selectOption('recurring')
    await dialog().getByLabel('Cron expression').fill('0 25 * * *')
    await dialog().locator('[aria-invalid]').waitFor()
    await dialog().getByLabel('Cron expression').fill(`0 ${HOUR} * * *`)
    await dialog().getByLabel('Time zone').fill('UTC')
    await dialog()
      .getByText(`At ${String(HOUR).padStart(2, '0')}:00`)
      .waitFor()
    await dialog().getByLabel('Name').fill('daily')
    expect(await faultsOf(page)).toEqual([])
    await button('Create the window').click()
    await page.getByText('Window daily created').waitFor()
    await button('Week').click()
    await expect.poll(() => page.locator('.opening', { hasText: 'daily' }).count()).toBe(7)
    expect(await faultsOf(page)).toEqual([])
    await button('Month').click()
    await expect.poll(() => page.locator('.opening', { hasText: 'daily' }).count()).toBeGreaterThan(27)
    await button('The next month').click()
    await page.waitForURL(/date=/)
    expect(await faultsOf(page)).toEqual([])
  })

  test('keeps what somebody else has changed meanwhile', async () => {
    await page
      .locator('[data-rows]')
      .getByRole('link', { name: /^daily/ })
      .click()
    await dialog().getByLabel('Reason').fill('Lunch')
    await client.send('PATCH', `${PATH}/daily`, { action: 'hold' })
    await button('Change 1 setting').click()
    await page.getByText(/somebody has changed the window/).waitFor()
    expect(await dialog().getByLabel('What it does').inputValue()).toBe('hold')
    await button('Change 1 setting').click()
    await page.getByText('Window daily changed').waitFor()
    expect((await client.send('GET', `${PATH}/daily`)).body).toMatchObject({
      action: 'hold',
      reason: 'Lunch',
    })
  })

  test('ends one by keyboard, and deletes one when that is confirmed', async () => {
    await button('Actions for move').press('Enter')
    await page.getByRole('menuitem', { name: 'End it now' }).press('Enter')
    await page.getByText('Window move has ended').waitFor()
    await banner().waitFor({ state: 'detached' })
    expect((await client.send('GET', `${PATH}/move`)).body).toMatchObject({ active: false })
    await button('Actions for daily').click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    expect(await faultsOf(page)).toEqual([])
    await button('Delete the window').click()
    await page.getByText('Window daily deleted').waitFor()
    expect((await windows()).map(({ id }) => id)).toEqual(['move'])
  })

  test('shows a viewer the calendar and nothing to do', async () => {
    await client.send('POST', PATH, {
      name: 'shown',
      action: 'mute',
      reason: '<img src=x onerror=alert(1)>',
      recurring: [{ cron_expression: '* * * * *', duration_seconds: 60 }],
    })
    const { body } = await client.send<{ token: string }>('POST', '/api/tokens', {
      name: 'v',
      scopes: ['read'],
    })
    const viewer = await dashboard.logIn(body.token)
    await viewer.goto(`${url}/maintenance?new=mute&window=shown&view=week`)
    await viewer.getByText('<img src=x').waitFor()
    await viewer.getByText(/Not all openings are shown of shown/).waitFor()
    expect(await viewer.getByRole('dialog').count()).toBe(0)
    expect(await viewer.getByRole('link', { name: 'New window' }).count()).toBe(0)
    expect(await viewer.getByRole('button', { name: /^Actions/ }).count()).toBe(0)
    expect(await faultsOf(viewer)).toEqual([])
  })
})
