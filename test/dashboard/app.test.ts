import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { ApiClient } from '../support/servers/api-client.ts'
import { createStandaloneWorld } from '../support/servers/standalone-world.ts'
import { until } from '../support/until.ts'
import { type Dashboard, faultsOf, openDashboard, whyNoBrowser } from './support/browser.ts'
import { startStreamProxy, type StreamProxy } from './support/stream-proxy.ts'

const world = createStandaloneWorld()
let url = ''
let token = ''
let client: ApiClient
let proxy: StreamProxy
let dashboard: Dashboard
let page: Page

const missing = whyNoBrowser()

beforeAll(async () => {
  if (missing !== null) return
  const folder = world.newFolder()
  const started = await world.start(folder)
  client = started.client
  token = readFileSync(join(folder, 'token'), 'utf8').trim()
  proxy = await startStreamProxy(String((await started.program.logged('Standalone runs'))['url']))
  url = proxy.url
  dashboard = await openDashboard(url)
  page = await dashboard.logIn(token)
  for (const queue of ['emails', 'invoices', 'webhooks']) {
    const { job_id: id } = await client.push({ queue, url: `${url}/echo` })
    await client.ended(id)
  }
})
afterEach(() => {
  if (missing === null) assert.deepEqual(dashboard.reported(), [])
})
afterAll(async () => {
  if (missing === null) {
    await dashboard.close()
    await proxy.close()
  }
  await world.close()
})

const palette = () => page.getByRole('combobox', { name: /^Find a screen/ })
const row = (name: string | RegExp) => page.getByRole('row', { name })
const heading = (name: string) => page.getByRole('heading', { level: 1, name })
const focused = (selector: string) => page.locator(`${selector}:focus`).waitFor()

async function open(path: string): Promise<void> {
  await page.goto(`${url}${path}`)
  await page.getByRole('heading', { level: 1 }).waitFor()
}

async function run(command: string): Promise<void> {
  await page.keyboard.press('Control+k')
  await palette().fill(command)
  await page.getByRole('option', { selected: true, name: command }).waitFor()
  await page.keyboard.press('Enter')
}

async function goToJob(id: number | undefined): Promise<void> {
  await page.keyboard.press('Control+k')
  await palette().fill(String(id))
  await page.keyboard.press('Enter')
}

/** What a fetch that fails leaves in the console, whatever the page does about it. */
function expectOnlyLostRequests(): void {
  for (const text of dashboard.reported()) expect(text).toContain('Failed to load resource')
}

describe.skipIf(missing !== null)(`a browser (${missing ?? 'there is one'})`, () => {
  test('leads by keys alone from the palette to a paused queue, and back', async () => {
    await page.keyboard.press('Control+k')
    await palette().waitFor()
    expect(await faultsOf(page)).toEqual([])
    await page.keyboard.type('pause ema')
    await page.getByRole('option', { name: 'Pause queue emails' }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByText('Queue emails paused').waitFor()
    const { queue_id: id } = (await client.queueNamed('emails')) ?? { queue_id: 0 }
    expect(await client.queueNamed('emails')).toMatchObject({ is_active: false })
    await run('emails')
    await page.waitForURL(`${url}/queues/${id}`)
    await focused('main')
    // What concerns the screen comes first.
    await page.keyboard.press('Control+k')
    await page.getByRole('option', { selected: true, name: 'Resume queue emails' }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByText('Queue emails resumed').waitFor()
    expect(await client.queueNamed('emails')).toMatchObject({ is_active: true })
    await page.getByRole('button', { name: 'Undo' }).last().click()
    await until('the queue is paused again', async () => {
      return (await client.queueNamed('emails'))?.is_active === false
    })
  })

  test('finds in the palette what the screens can do, also by other words', async () => {
    const sought: ReadonlyArray<readonly [text: string, option: string, path: RegExp]> = [
      ['token', 'Make a token …', /\/access\?tab=tokens$/],
      ['rotate', 'Rotate the signing secret …', /\/access\?tab=secrets$/],
      ['mute', 'Mute alerts …', /\/maintenance\?new=mute$/],
      ['window', 'New maintenance window …', /\/maintenance\?new=mute$/],
      ['make queue', 'New queue …', /\/queues\/new$/],
      ['schedule', 'New cron …', /\/crons\/new$/],
      ['silence emails', 'Mute queue emails …', /\/maintenance\?new=mute&resource=queue%2F\d+$/],
      ['edit queue emails', 'Edit queue emails', /\/queues\/\d+\?edit=settings$/],
    ]
    for (const [text, option, path] of sought) {
      await page.keyboard.press('Control+k')
      await palette().fill(text)
      await page.getByRole('option', { name: option, exact: true }).click()
      await page.waitForURL(path)
      await page.getByRole('dialog').waitFor()
      expect(await page.getByRole('dialog').count()).toBe(1)
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
    }
    await page.keyboard.press('Control+k')
    await palette().fill('docs')
    await page.getByRole('option', { name: 'The API, as an OpenAPI document' }).waitFor()
    await page.keyboard.press('Escape')
  })

  test('has keys for search, rows and help, and Esc leaves each of them', async () => {
    await run('Queues')
    await heading('Queues').waitFor()
    await page.getByRole('status').filter({ hasText: 'Queues · Punctual' }).waitFor({ state: 'attached' })
    expect(await page.title()).toBe('Queues · Punctual')
    await row(/webhooks/).waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('inv')
    await row(/webhooks/).waitFor({ state: 'detached' })
    await page.keyboard.press('Escape')
    await row(/webhooks/).waitFor()
    await page.keyboard.press('Escape')
    await page.keyboard.press('j')
    expect(await page.locator('tr[data-current]').count()).toBe(1)
    await page.keyboard.press('Escape')
    expect(await page.locator('tr[data-current]').count()).toBe(0)
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keys' }).waitFor()
    expect(await faultsOf(page)).toEqual([])
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await run('Jobs')
    await row(/webhooks/)
      .filter({ has: page.getByRole('checkbox') })
      .waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('x')
    await page.getByText('1 job chosen').waitFor()
    await page.keyboard.press('Escape')
    await page.keyboard.press('Escape')
    await page.getByText('1 job chosen').waitFor({ state: 'detached' })
    await page.keyboard.press('/')
    await focused('#search')
  })

  test('goes to a job by its id, and skips to the content of a screen without leaving it', async () => {
    const { jobs } = await client.jobs({ queue: 'invoices' })
    await open('/queues')
    await goToJob(jobs[0]?.job_id)
    await heading(`Job ${jobs[0]?.job_id}`).waitFor()
    const address = page.url()
    await page.reload()
    await heading(`Job ${jobs[0]?.job_id}`).waitFor()
    await page.keyboard.press('Tab')
    await page.getByRole('link', { name: 'To the content' }).press('Enter')
    await focused('main')
    expect(page.url()).toBe(address)
  })

  test('shows times in any zone, which the browser keeps', async () => {
    const { jobs } = await client.jobs({ queue: 'invoices' })
    const endedMs = Date.parse(jobs[0]?.completed_at ?? '')
    const clockIn = (timeZone: string) =>
      new Intl.DateTimeFormat('sv-SE', { timeZone, timeStyle: 'medium' }).format(endedMs)
    await open('/jobs?queue=invoices')
    await run('Time zone: UTC')
    await run('Show times by the clock')
    await row(new RegExp(clockIn('UTC'))).waitFor()
    await page.getByRole('button', { name: /^Time zone/ }).click()
    await page.getByRole('combobox', { name: 'Time zone' }).fill('kathmandu')
    expect(await faultsOf(page)).toEqual([])
    await page.keyboard.press('Enter')
    await row(new RegExp(clockIn('Asia/Kathmandu'))).waitFor()
    await page.reload()
    await row(new RegExp(clockIn('Asia/Kathmandu'))).waitFor()
    await run('Show how long ago things were')
    await row(/ ago/).waitFor()
  })

  test('opens the palette again at once after a choice', async () => {
    await open('/queues')
    await page.keyboard.press('Control+k')
    await palette().fill('Time zone: UTC')
    await page.getByRole('option', { selected: true, name: 'Time zone: UTC' }).waitFor()
    await page.evaluate(async () => {
      const press = (target: EventTarget | null, init: KeyboardEventInit) =>
        target?.dispatchEvent(new KeyboardEvent('keydown', { bubbles: true, cancelable: true, ...init }))
      press(document.activeElement, { key: 'Enter' })
      // Drawn by then, while the event that the dialog has closed is still to come.
      await Promise.resolve()
      press(document, { key: 'k', ctrlKey: true })
      await new Promise((resolve) => setTimeout(resolve, 100))
    })
    await palette().waitFor()
    expect(await palette().inputValue()).toBe('')
    await page.keyboard.press('Escape')
    await palette().waitFor({ state: 'detached' })
  })

  test('says when it lost the stream, asks by itself meanwhile, and follows again', async () => {
    await open('/queues')
    await page.getByRole('button', { name: 'Live' }).waitFor()
    proxy.cut()
    await page.getByRole('button', { name: 'Every 5 s' }).waitFor()
    await client.push({ queue: 'made-meanwhile', url: `${url}/echo` })
    await row(/made-meanwhile/).waitFor()
    proxy.mend()
    await page.getByRole('button', { name: 'Live' }).waitFor({ timeout: 30_000 })
    expectOnlyLostRequests()
    await page.getByRole('button', { name: 'Live' }).click()
    await page.getByRole('button', { name: 'Paused' }).waitFor()
    await client.push({ queue: 'made-in-a-pause', url: `${url}/echo` })
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    await page.waitForTimeout(6_000)
    expect(asked).toEqual([])
    await page.getByRole('button', { name: 'Paused' }).click()
    await row(/made-in-a-pause/).waitFor()
  })

  test('says when nothing answers, without moving a row, and goes on when something does', async () => {
    await open('/queues')
    await row(/webhooks/).waitFor()
    const before = await row(/webhooks/).boundingBox()
    await page.route('**/api/**', (route) => route.abort())
    proxy.cut()
    await page.getByRole('button', { name: 'No answer' }).waitFor({ timeout: 40_000 })
    await page.getByRole('alert').filter({ hasText: 'Punctual does not answer' }).waitFor()
    expect(await row(/webhooks/).boundingBox()).toEqual(before)
    expect(await faultsOf(page)).toEqual([])
    await page.unroute('**/api/**')
    proxy.mend()
    await page.getByRole('button', { name: /Live|Every 5 s/ }).waitFor({ timeout: 40_000 })
    await page.getByRole('alert').waitFor({ state: 'detached' })
    expectOnlyLostRequests()
  })

  test('keeps each row under the mouse where it is while others come', async () => {
    await open('/jobs?queue=webhooks')
    const [first] = (await client.jobs({ queue: 'webhooks' })).jobs
    const mine = row(new RegExp(`^.* ?${first?.job_id} `))
    await mine.hover()
    const before = await mine.boundingBox()
    const { job_id: id } = await client.push({ queue: 'webhooks', url: `${url}/echo?new` })
    await page.getByRole('button', { name: '1 new job – show' }).waitFor()
    expect(await mine.boundingBox()).toEqual(before)
    await page.getByRole('button', { name: '1 new job – show' }).click()
    await page.getByRole('link', { name: String(id), exact: true }).waitFor()
  })

  test('has a menu on narrow screens that takes the focus and gives it back', async () => {
    await page.setViewportSize({ width: 375, height: 740 })
    await page.getByRole('button', { name: 'Menu', exact: true }).click()
    await page.getByRole('link', { name: 'Jobs', exact: true }).waitFor()
    await focused('nav a')
    await page.keyboard.press('Escape')
    await focused('button[aria-label=Menu]')
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'Queues', exact: true }).click()
    await heading('Queues').waitFor()
    await focused('main')
    expect(await faultsOf(page)).toEqual([])
  })

  test('offers to load itself again where the files of a screen are gone, as after an upgrade', async () => {
    const fresh = await dashboard.logIn(token)
    const files = '**/assets/audit-log-*.js'
    await fresh.route(files, (route) => route.abort())
    await fresh.getByRole('link', { name: 'Audit log' }).click()
    await fresh.getByRole('heading', { name: 'This screen could not be loaded' }).waitFor()
    expect(await faultsOf(fresh)).toEqual([])
    await fresh.unroute(files)
    await fresh.getByRole('button', { name: 'Load the page again' }).click()
    await fresh.getByRole('heading', { level: 1, name: 'Audit log' }).waitFor()
    expectOnlyLostRequests()
  })

  test('offers a viewer no action in the palette', async () => {
    const { body } = await client.send<{ token: string }>('POST', '/api/tokens', {
      name: 'viewer',
      scopes: ['read'],
    })
    const viewer = await dashboard.logIn(body.token)
    await viewer.keyboard.press('Control+k')
    await viewer.getByRole('combobox').fill('emails')
    await viewer.getByRole('option', { name: 'emails' }).first().waitFor()
    expect(await viewer.getByRole('option', { name: /Pause|Resume|payload/ }).count()).toBe(0)
  })

  test('leads to the login when the session has ended, and back to where one was', async () => {
    await open('/jobs?queue=invoices')
    await row(/invoices|echo/)
      .first()
      .waitFor()
    // As from another tab.
    const headers = { 'x-punctual-request': '1', 'sec-fetch-site': 'same-origin' }
    expect((await page.request.delete(`${url}/api/session`, { headers })).status()).toBe(204)
    await client.push({ queue: 'invoices', url: `${url}/echo` })
    await page.getByText('Your session has ended').waitFor()
    expectOnlyLostRequests()
    expect(await page.title()).toBe('Log in to Punctual · Punctual')
    expect(await faultsOf(page)).toEqual([])
    await page.keyboard.type('a-wrong-token')
    await page.keyboard.press('Enter')
    await page.getByText('Nobody has this token').waitFor()
    expectOnlyLostRequests()
    await page.getByLabel('Token').fill(token)
    await page.keyboard.press('Enter')
    await heading('Jobs').waitFor()
    expect(page.url()).toBe(`${url}/jobs?queue=invoices`)
    await page.getByText('invoices').first().waitFor()
  })
})
