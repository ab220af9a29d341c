/** Lists: heads that sort, filters that stand in the address, and what can be done about an issue. */
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Bulk, Issue, IssueList } from '../../clients/typescript/src/client.ts'
import type { ApiClient } from '../support/servers/api-client.ts'
import { hang } from '../support/targets/target.ts'
import { faultsOf } from './support/browser.ts'
import { createDashboardWorld } from './support/dashboard-world.ts'
import { writeNoResources } from './support/shop/resources.ts'

const { missing, open: openWorld } = createDashboardWorld()
let url = ''
let client: ApiClient
let page: Page

const NO_RETRIES = { retries_enabled: false }

beforeAll(async () => {
  if (missing !== null) return
  let slow = ''
  ;({ url, client, page } = await openWorld(async (folder, world) => {
    writeNoResources(folder)
    const target = await world.newTarget()
    target.route('/hangs', hang)
    slow = `${target.url}/hangs`
  }))
  const push = async (queue: string, to: string, more: object = NO_RETRIES) => {
    const { job_id: id } = await client.push({ queue, url: to, ...more })
    await client.ended(id)
  }
  await push('beta', `${url}/echo`)
  await push('alpha', `${url}/echo?fail=99&status=500`)
  await push('beta', `${url}/echo?fail=99&status=503`, { retry_delays: [1] })
  await push('alpha', `${url}/echo`)
  await push('all-well', `${url}/echo`)
  await push('alpha', slow, { ...NO_RETRIES, timeout_seconds: 1 })
})

const button = (name: string | RegExp) => page.getByRole('button', { name })
const dialog = () => page.getByRole('dialog')
const rows = () => page.locator('[data-rows] > tr')
const asked = () => Object.fromEntries(new URL(page.url()).searchParams)
const search = () => page.getByLabel('Show queues whose name contains')
const head = (name: string) => page.getByRole('columnheader', { name })

/** The ids of the rows, from top to bottom. */
async function shownIds(): Promise<readonly number[]> {
  return (await rows().locator('td:has(input) + td, td:first-child:not(:has(input))').allInnerTexts()).map(
    Number,
  )
}

/** The rows are those that the API lists for this query, in its order. */
async function showsWhat(query: Readonly<Record<string, string>>, count: number): Promise<void> {
  const { jobs } = await client.jobs(query)
  const ids = jobs.map(({ job_id: id }) => id)
  expect(ids.length).toBe(count)
  await expect.poll(shownIds).toEqual(ids)
}

describe.skipIf(missing !== null)(`a browser (${missing ?? 'there is one'})`, () => {
  test('puts jobs in the order of a head, which the address keeps', async () => {
    await page.goto(`${url}/jobs`)
    await head('Queue').getByRole('button').click()
    await page.waitForURL(/order=queue/)
    await showsWhat({ order: 'queue' }, 6)
    expect(await head('Queue').getAttribute('aria-sort')).toBe('ascending')
    expect(await head('When').getAttribute('aria-sort')).toBe(null)
    expect(await faultsOf(page)).toEqual([])
    await head('When').getByRole('button').click()
    await page.waitForURL(/order=newest/)
    await showsWhat({ order: 'newest' }, 6)
    expect(await head('When').getAttribute('aria-sort')).toBe('descending')
    await page.reload()
    await showsWhat({ order: 'newest' }, 6)
  })

  test('sorts and searches queues by the address', async () => {
    const names = () => rows().locator('td:first-child').allInnerTexts()
    const ofLastHour = async () =>
      (await client.queues({ sort: 'failed' })).queues.map((queue) => [queue.name, queue.last_hour?.failed])
    // Failed calls, counted up to 15 s after them: until then the page may show another order.
    await expect.poll(ofLastHour, { timeout: 30_000 }).toEqual([
      ['alpha', 2],
      ['beta', 2],
      ['all-well', 0],
    ])
    await page.goto(`${url}/queues`)
    await button('Name').click()
    await page.waitForURL(/sort=name/)
    await expect.poll(names).toEqual(['all-well', 'alpha', 'beta'])
    await button('Failed').click()
    await page.waitForURL(/sort=failed/)
    await expect.poll(names).toEqual(['alpha', 'beta', 'all-well'])
    await search().fill('BET')
    await page.waitForURL(/text=BET/)
    await expect.poll(names).toEqual(['beta'])
    expect(asked()).toEqual({ sort: 'failed', text: 'BET' })
    await page.reload()
    await expect.poll(names).toEqual(['beta'])
    expect(await search().inputValue()).toBe('BET')
  })

  test('shows the whole last hour of each queue, also after a page with other bars', async () => {
    await page.goto(`${url}/`)
    await page.getByText('Open issues').waitFor()
    await page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: 'Queues' }).click()
    const bars = page.getByRole('img', { name: /ended in the last hour/ }).first()
    const box = await bars.boundingBox()
    expect(box?.width).toBe(Number(await bars.getAttribute('width')))
    expect(box?.height).toBe(Number(await bars.getAttribute('height')))
  })

  test('finds jobs by several statuses, by what must not hold and by how long they took', async () => {
    await page.goto(`${url}/jobs`)
    await page.getByRole('button', { name: 'Filter', exact: true }).click()
    await dialog().getByRole('checkbox', { name: 'Failed' }).check()
    await dialog().getByRole('checkbox', { name: 'Dead letters' }).check()
    await button('Show jobs').click()
    await page.waitForURL(/status=/)
    expect(asked()).toEqual({ status: 'failed,dead_lettered' })
    await showsWhat(asked(), 3)
    await page.getByRole('button', { name: 'Filter', exact: true }).click()
    expect(await dialog().getByRole('checkbox', { name: 'Failed' }).isChecked()).toBe(true)
    await dialog().getByLabel('Not in queue').fill('beta')
    await button('Show jobs').click()
    await page.waitForURL(/not_queue=beta/)
    await showsWhat({ status: 'failed,dead_lettered', not_queue: 'beta' }, 2)
    await page.getByRole('button', { name: 'Filter', exact: true }).click()
    await dialog().getByLabel('Slower than, in milliseconds').fill('900')
    await button('Show jobs').click()
    await page.waitForURL(/slower_than_ms=900/)
    await showsWhat(asked(), 1)
    expect(await faultsOf(page)).toEqual([])
    const found = await shownIds()
    await page.reload()
    await expect.poll(shownIds).toEqual(found)
    await button(/^Remove .*slower/i).click()
    await expect.poll(asked).toEqual({ status: 'failed,dead_lettered', not_queue: 'beta' })
    await showsWhat(asked(), 2)
    await page.goto(`${url}/jobs?not_failure_reason=http_server_error&status=failed`)
    await showsWhat(asked(), 1)
    await page.goto(`${url}/jobs?status=failed,closed`)
    await page.getByText('The selected status is invalid.').waitFor()
  })

  test('acknowledges an issue, mutes, resolves, reopens and replays it', async () => {
    const { issues } = (await client.send<IssueList>('GET', '/api/issues?queue=beta')).body
    const [{ id } = { id: '' }] = issues
    const issue = async () => (await client.send<Issue>('GET', `/api/issues/${id}`)).body
    const state = async () => (await issue()).state
    const choose = async (name: string) => {
      await button('More').click()
      await page.getByRole('menuitem', { name }).click()
    }
    await page.goto(`${url}/issues`)
    await page.getByRole('link', { name: /^503/ }).click()
    await page.waitForURL(`${url}/issues/${id}`)
    await button('Acknowledge').click()
    await expect.poll(state).toBe('acknowledged')
    await button('Acknowledge').waitFor({ state: 'detached' })
    await choose('Mute for 24 hours')
    await expect.poll(state).toBe('muted')
    const leftMs = Date.parse((await issue()).muted_until ?? '') - Date.now()
    expect(leftMs / 3_600_000).toBeGreaterThan(23)
    expect(leftMs / 3_600_000).toBeLessThanOrEqual(24)
    await choose('Reopen')
    await expect.poll(state).toBe('open')
    await choose('Resolve')
    await expect.poll(state).toBe('resolved')
    await page.getByText('Resolved', { exact: true }).first().waitFor()
    expect(await faultsOf(page)).toEqual([])
    await button('Replay').click()
    await dialog().getByRole('button', { name: 'Replay 1 job' }).click()
    await page.getByRole('link', { name: 'Progress' }).waitFor()
    const { bulks } = (await client.send<{ bulks: Bulk[] }>('GET', '/api/bulk?limit=1')).body
    expect(bulks).toMatchObject([
      { action: 'replay', filter: { queue: 'beta', host: '127.0.0.1', response_status: 503 } },
    ])
    // What is replayed fails again, and opens the issue again.
    await expect.poll(state).toBe('open')
  })

  test('lists issues that are open or acknowledged, and the others when they are asked for', async () => {
    const { issues } = (await client.send<IssueList>('GET', '/api/issues?queue=alpha')).body
    expect(issues.length).toBe(2)
    await client.send('POST', `/api/issues/${issues[0]?.id}/resolve`)
    await client.send('POST', `/api/issues/${issues[1]?.id}/acknowledge`)
    await page.goto(`${url}/issues`)
    await expect.poll(() => rows().count()).toBe(2)
    await button('Resolved').click()
    await page.waitForURL(/state=resolved/)
    await expect.poll(() => rows().count()).toBe(1)
    await button('All').click()
    await expect.poll(() => rows().count()).toBe(3)
    await button('Muted').click()
    await page.getByText('No issue is muted').waitFor()
    await button('Current').click()
    await expect.poll(() => rows().count()).toBe(2)
    expect(new URL(page.url()).search).toBe('')
    expect(await faultsOf(page)).toEqual([])
  })
})
