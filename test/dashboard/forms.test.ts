/** What one types, chooses and has the focus on, while other things happen. */
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Cron, Job, Queue } from '../../clients/typescript/src/client.ts'
import type { ApiClient } from '../support/servers/api-client.ts'
import { until } from '../support/until.ts'
import { type Dashboard } from './support/browser.ts'
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
const dialog = () => page.getByRole('dialog')
const row = (name: string | RegExp) => page.getByRole('row', { name })
const focused = (name: string) => page.locator(`button:focus:has-text("${name}")`).waitFor()

async function open(path: string): Promise<void> {
  await page.goto(`${url}${path}`)
  await page.getByRole('heading', { level: 1 }).waitFor()
}

describe.skipIf(missing !== null)(`a browser (${missing ?? 'there is one'})`, () => {
  test('keeps a name that is half typed while the list below it changes', async () => {
    await client.makeQueue('noted', {})
    await open('/audit')
    await row(/noted/).waitFor()
    await page.getByLabel('By', { exact: true }).focus()
    await page.keyboard.type('an')
    await client.makeQueue('noted-too', {})
    await row(/noted-too/).waitFor()
    await page.keyboard.type('n')
    await page.keyboard.press('Enter')
    await page.waitForURL(`${url}/audit?actor=ann`)
    await page.getByText('No change matches these filters').waitFor()
    await button('Clear the filters').click()
    expect(await page.getByLabel('By', { exact: true }).inputValue()).toBe('')
  })

  test('takes a moment whose year is typed digit by digit', async () => {
    await open('/audit?after=2026-11-23T09:05:00Z')
    const since = page.getByLabel('Since', { exact: true })
    const local = await since.inputValue()
    await since.focus()
    // To the year, which is the third part.
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('ArrowRight')
    await page.keyboard.type('2025')
    await page.waitForURL(/after=2025-11-2/)
    expect(await since.inputValue()).toBe(local.replace('2026', '2025'))
    await open('/jobs?created_after=2026-11-23T09:05:00Z')
    await page.getByRole('button', { name: 'Filter', exact: true }).click()
    await dialog().getByLabel('Created from').focus()
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('ArrowRight')
    await page.keyboard.type('2025')
    await button('Show jobs').click()
    await page.waitForURL(/created_after=2025-11-2/)
  })

  test('gives the focus back to what opened a dialog', async () => {
    const id = await client.makeQueue('held', {})
    await open(`/queues/${id}`)
    await button('Pause the queue').press('Enter')
    await button('Cancel').press('Enter')
    await focused('Pause the queue')
    await button('Edit settings').press('Enter')
    await dialog().getByLabel('Calls at once').fill('3')
    await button('Change 1 setting').press('Enter')
    await page.getByText('Settings saved.').waitFor()
    await focused('Edit settings')
    expect((await client.send<Queue>('GET', `/api/queues/${id}`)).body).toMatchObject({ max_parallelism: 3 })
  })

  test('keeps a form open when a selection of its text, or a click, ends beside it', async () => {
    const id = await client.makeQueue('selected', {})
    await open(`/queues/${id}`)
    await button('Pause the queue').click()
    const field = dialog().getByLabel('Why')
    await field.fill('The mail server is down.')
    const box = await field.boundingBox()
    await page.mouse.move((box?.x ?? 0) + 60, (box?.y ?? 0) + 10)
    await page.mouse.down()
    await page.mouse.move(5, 5)
    await page.mouse.up()
    await page.mouse.click(5, 5)
    expect(await field.inputValue()).toBe('The mail server is down.')
    await page.keyboard.press('Escape')
    await page.keyboard.press('?')
    await dialog().waitFor()
    await page.mouse.click(5, 5)
    await dialog().waitFor({ state: 'detached' })
  })

  test('says at once what was refused, and blames nobody else for it', async () => {
    const id = await client.makeQueue('counted', {})
    await client.send('POST', `/api/queues/${id}/pause`)
    await open(`/queues/${id}`)
    await button('Edit settings').click()
    await dialog().getByLabel('Calls at once').fill('0')
    // It counts now, but nobody has changed its settings.
    await client.push({ queue: 'counted', url: `${url}/echo` })
    let letGo = (): void => undefined
    const held = new Promise<void>((resolve) => {
      letGo = resolve
    })
    await page.route('**/api/**', async (route) => {
      if (route.request().method() === 'GET') await held
      // One that was asked again meanwhile is gone.
      await route.continue().catch(() => undefined)
    })
    await button('Change 1 setting').click()
    await page.getByText('Some fields need another value.').waitFor()
    let read = 0
    page.on('response', (answer) => {
      if (answer.url() === `${url}/api/queues/${id}`) read += 1
    })
    letGo()
    await until('both the page and the form have read the queue again', () => read >= 2)
    await page.unrouteAll()
    await page.getByText('1 ready job waits').waitFor()
    expect(await dialog().getByText('Nothing is saved yet').count()).toBe(0)
    await page.keyboard.press('Escape')
  })

  test('makes a long search again by a click alone', async () => {
    const asked: string[] = []
    page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    const count = (path: string): number => asked.filter((one) => one === path).length
    await page.route('**/api/jobs?**', (route) =>
      route.fulfill({ json: { jobs: [], next_cursor: null, searched: 20_000 } }),
    )
    await open('/jobs?text=needle')
    await page.getByText('Searched 20,000 records, to the end.').waitFor()
    const [searches, others] = [count('/api/jobs'), count('/api/queues')]
    // As when one comes back to the tab.
    await until('what is short was read again', async () => {
      await page.evaluate("dispatchEvent(new Event('visibilitychange'))")
      return count('/api/queues') > others
    })
    expect(count('/api/jobs')).toBe(searches)
    await page.unroute('**/api/jobs?**')
  })

  test('tells of what was deleted meanwhile, and of an attempt that cannot be read', async () => {
    const { body: cron } = await client.send<Cron>('POST', '/api/crons', {
      name: 'doomed',
      url: `${url}/echo`,
      cron_expression: '0 3 * * *',
    })
    await open(`/crons/${cron.id}`)
    await button('Run now').waitFor()
    await client.send('DELETE', `/api/crons/${cron.id}`)
    await page.getByText('There is no such cron').waitFor()
    const { job_id: id } = await client.push({
      queue: 'again',
      url: `${url}/echo?fail=1&status=503`,
      retry_delays: [1],
    })
    const { chain } = await client.jobThat(
      id,
      'succeeded on retry',
      (job: Job) => job.final_status === 'success',
    )
    await page.route(`**/api/jobs/${chain[1]?.job_id}`, (route) => route.fulfill({ status: 500, json: {} }))
    await open(`/jobs/${id}`)
    await page.getByRole('button', { name: 'Try again' }).waitFor()
    await page.unrouteAll()
    // Unless it has been read again by itself.
    await button('Try again')
      .click({ timeout: 1_000 })
      .catch(() => undefined)
    await page.getByText('Response body').waitFor()
    for (const text of dashboard.reported()) expect(text).toContain('status of 500')
  })

  test('opens no editor of the cron that one goes back to', async () => {
    const make = (name: string) =>
      client.send<Cron>('POST', '/api/crons', { name, url: `${url}/echo`, cron_expression: '0 3 * * *' })
    const [first, second] = [(await make('first')).body, (await make('second')).body]
    await open(`/crons/${first.id}`)
    await page.keyboard.press('Control+k')
    await page.keyboard.type('second')
    await page.getByRole('option', { selected: true, name: /^second/ }).waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL(`${url}/crons/${second.id}`)
    await page.getByRole('button', { name: 'Edit', exact: true }).click()
    await dialog().getByLabel('Cron expression').waitFor()
    await page.goBack()
    await page.getByRole('heading', { level: 1, name: 'first' }).waitFor()
    expect(await dialog().count()).toBe(0)
  })

  test('saves a window whose minutes are not whole', async () => {
    await client.send('POST', '/api/maintenance-windows', {
      name: 'short',
      action: 'mute',
      recurring: [{ cron_expression: '0 12 * * *', duration_seconds: 90 }],
    })
    await open('/maintenance?window=short')
    await dialog().getByLabel('Reason').fill('Lunch')
    await button('Change 1 setting').click()
    await page.getByText('Window short changed').waitFor()
    expect((await client.send('GET', '/api/maintenance-windows/short')).body).toMatchObject({
      reason: 'Lunch',
      recurring: [{ duration_seconds: 90 }],
    })
  })

  test('stays in its team when another tab chooses another one', async () => {
    const id = await client.makeQueue('ours', {})
    await open(`/queues/${id}`)
    await button('Pause the queue').waitFor()
    const other = await page.context().newPage()
    await other.goto(`${url}/queues`)
    await page.evaluate("addEventListener('storage', () => { globalThis.isTold = true })")
    await other.evaluate("localStorage.setItem('punctual.team', 'theirs')")
    await until('this tab was told', () => page.evaluate('globalThis.isTold === true'))
    await other.close()
    const { team } = (await client.send<{ team: string }>('GET', '/api/me')).body
    const sent = page.waitForRequest((request) => request.method() === 'POST')
    await button('Pause the queue').click()
    await button('Pause 1 queue').click()
    expect((await sent).headers()['x-punctual-team']).toBe(team)
    await page.getByText(/paused$/).waitFor()
    expect((await client.send<Queue>('GET', `/api/queues/${id}`)).body).toMatchObject({ is_active: false })
  })
})
