import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Alert, MaintenanceWindow } from '../../clients/typescript/src/client.ts'
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
})

const button = (name: string | RegExp) => page.getByRole('button', { name })
const rows = () => page.locator('[data-rows] > tr')

async function alerts(query = ''): Promise<readonly Alert[]> {
  return (await client.send<{ alerts: Alert[] }>('GET', `/api/alerts${query}`)).body.alerts
}

/** A warning and a failure of a queue. */
async function raised(queue: string): Promise<void> {
  const push = { queue, url: `${url}/echo?fail=99&status=500`, retry_delays: [1] }
  await client.ended((await client.push({ queue, url: `${url}/echo` })).job_id)
  const { queues } = (
    await client.send<{ queues: Array<{ queue_id: number; name: string }> }>('GET', '/api/queues')
  ).body
  const id = queues.find(({ name }) => name === queue)?.queue_id
  await client.send('PATCH', `/api/queues/${id}`, { alerts_enabled: true })
  await client.ended((await client.push(push)).job_id)
}

describe.skipIf(missing !== null)(`a browser (${missing ?? 'there is one'})`, () => {
  test('says that there are no alerts yet, and shows one as it is raised', async () => {
    await page.getByRole('link', { name: 'Alerts' }).click()
    await page.getByText('No alerts').waitFor()
    expect(await faultsOf(page)).toEqual([])
    await raised('mail')
    await page
      .getByRole('link', { name: /^Unread: Answered with 5xx · queue mail/ })
      .first()
      .waitFor()
    await expect.poll(() => rows().count()).toBe(2)
    expect(await faultsOf(page)).toEqual([])
  })

  test('filters by the address, and leaves unread what the filter does not find', async () => {
    await button('Failures').click()
    await page.waitForURL(/type=failure/)
    await button('Mark 1 alert as read').click()
    await page.getByText('1 alert marked as read').waitFor()
    expect((await alerts('?read=false')).map(({ type }) => type)).toEqual(['warning'])
    await button('Unread only').click()
    await page.getByText('No alert matches these filters').waitFor()
    expect(await faultsOf(page)).toEqual([])
    await button('Clear the filters').click()
    await expect.poll(() => rows().count()).toBe(2)
  })

  test('opens one by keyboard, and mutes its queue', async () => {
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'What happened' }).waitFor()
    await page.getByText('No channel gets alerts of this type').waitFor()
    expect(await faultsOf(page)).toEqual([])
    await button('Mute').click()
    await page.getByRole('menuitem', { name: 'Mute queue mail for 8 hours' }).click()
    await page.getByText('Alerts of queue mail are not sent until').waitFor()
    const { windows } = (
      await client.send<{ windows: MaintenanceWindow[] }>('GET', '/api/maintenance-windows')
    ).body
    const [window] = windows.filter(({ reason }) => reason === 'Muted by hand')
    expect(window).toMatchObject({ action: 'mute', resource: { kind: 'queue', name: 'mail' }, active: true })
    await page.getByRole('link', { name: 'Failed jobs' }).click()
    await expect.poll(() => rows().count()).toBe(1)
  })

  test('chooses with Shift what lies between two clicks, either way, and lets it go so as well', async () => {
    await raised('post')
    await page.goto(`${url}/alerts`)
    await expect.poll(() => rows().count()).toBe(4)
    const row = (at: number) => page.getByRole('checkbox', { name: `Choose row ${at}` })
    const chosen = async () => {
      const boxes = await Promise.all(
        [1, 2, 3, 4].map(async (at) => ((await row(at).isChecked()) ? [at] : [])),
      )
      return boxes.flat()
    }
    await row(3).click()
    expect(await chosen()).toEqual([3])
    await row(2).click({ modifiers: ['Shift'] })
    expect(await chosen()).toEqual([2, 3])
    await row(4).click({ modifiers: ['Shift'] })
    expect(await chosen()).toEqual([2, 3, 4])
    await row(3).click({ modifiers: ['Shift'] })
    expect(await chosen()).toEqual([2])
    await row(1).click()
    expect(await chosen()).toEqual([1, 2])
    await button('Delete 2 alerts').waitFor()
  })

  test('deletes those that are chosen when that is confirmed', async () => {
    await page.goto(`${url}/alerts`)
    await page.getByRole('checkbox', { name: 'Choose all rows shown' }).check()
    await button('Delete 4 alerts').click()
    expect(await faultsOf(page)).toEqual([])
    await page.getByRole('dialog').getByRole('button', { name: 'Delete 4 alerts' }).click()
    await page.getByText('4 alerts deleted').waitFor()
    expect(await alerts()).toEqual([])
  })

  test('shows a viewer what there is and nothing to do', async () => {
    await raised('<img src=x onerror=alert(1)>')
    const { body } = await client.send<{ token: string }>('POST', '/api/tokens', {
      name: 'v',
      scopes: ['read'],
    })
    const viewer = await dashboard.logIn(body.token)
    await viewer.goto(`${url}/alerts`)
    await viewer
      .getByRole('link', { name: /queue <img/ })
      .first()
      .click()
    await viewer.getByRole('heading', { name: 'What happened' }).waitFor()
    expect(await viewer.getByRole('button', { name: /Mark|Mute|Delete/ }).count()).toBe(0)
    expect(await faultsOf(viewer)).toEqual([])
    await viewer.goto(`${url}/alerts/1`)
    await viewer.getByText('There is no such alert').waitFor()
  })
})
