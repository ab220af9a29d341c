import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import type { MaintenanceWindow, ManagedBy, Queue, QueueState } from '../../clients/typescript/src/client.ts'
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
const item = (name: string | RegExp) => page.getByRole('menuitem', { name })
const dialog = () => page.getByRole('dialog')
const queue = async (id: number) => (await client.send<Queue>('GET', `/api/queues/${id}`)).body

async function open(id: number | string, on = page): Promise<void> {
  await on.goto(`${url}/queues/${id}`)
}

/** Where the lines of a chart are, below the labels of its values. */
async function boxOf(on: Page, name: RegExp) {
  const chart = on.getByRole('slider', { name })
  await chart.scrollIntoViewIfNeeded()
  const { x, y, width, height } = (await chart.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 }
  return { left: x + 68, width: width - 82, middle: y + height / 2 }
}

/** What the address asks for of jobs. */
function spanIn(on: Page) {
  const asked = new URL(on.url()).searchParams
  const msOf = (name: string) => Date.parse(asked.get(name) ?? '')
  return {
    queue: asked.get('queue'),
    status: asked.get('status'),
    minutes: (msOf('ended_before') - msOf('ended_after')) / 60_000,
  }
}

async function choose(action: string | RegExp): Promise<void> {
  await button('Actions').click()
  await item(action).click()
}

describe.skipIf(missing !== null)(`a browser (${missing ?? 'there is one'})`, () => {
  test('pauses a queue with a reason, says loudly who did it, and resumes it', async () => {
    const id = await client.makeQueue('mails', {})
    await open(id)
    await button('Pause the queue').click()
    await dialog().getByLabel('Why').fill('The mail server <b>is</b> down.')
    expect(await faultsOf(page)).toEqual([])
    await button('Pause 1 queue').click()
    await page.getByText(/^Paused .* in the dashboard: “The mail server <b>is<\/b> down.”/).waitFor()
    const { body } = await client.send<QueueState>('GET', `/api/queues/${id}/state`)
    expect(body.paused).toMatchObject({ via: 'dashboard', reason: 'The mail server <b>is</b> down.' })
    await client.push({ queue: 'mails', url: `${url}/echo` })
    await page.getByText('1 ready job waits').waitFor()
    expect(await faultsOf(page)).toEqual([])
    await button('Resume the queue').click()
    await button('Pause the queue').waitFor()
    expect(await queue(id)).toMatchObject({ is_active: true })
  })

  test('shows what failed last above the settings, and mutes the queue from its menu', async () => {
    const asserted = { type: 'body_contains', value: 'never said' } as const
    const id = await client.makeQueue('shaky', { retry_delays: [1], success_assertions: [asserted] })
    await client.ended((await client.push({ queue: 'shaky', url: `${url}/echo` })).job_id)
    await open(id)
    const failures = page.getByRole('table', { name: 'The last failures' })
    await failures.getByText('An assertion failed, answered with 200').waitFor()
    const places = await page.getByRole('heading', { level: 2 }).allInnerTexts()
    expect(places.indexOf('The last failures')).toBeLessThan(places.indexOf('Settings'))
    expect(await faultsOf(page)).toEqual([])
    await choose('Mute queue shaky for 1 hour')
    await page.getByText(/^Alerts of queue shaky are not sent until/).waitFor()
    await page.getByText('Alerts are muted').waitFor()
    const { body } = await client.send<{
      windows: ReadonlyArray<Pick<MaintenanceWindow, 'action' | 'resource'>>
    }>('GET', '/api/maintenance-windows')
    const made = body.windows.filter(({ resource }) => resource?.name === 'shaky')
    expect(made).toMatchObject([{ action: 'mute', resource: { kind: 'queue' } }])
    await page.goto(`${url}/dead-letters?queue=shaky`)
    const row = page.getByRole('table', { name: 'Dead letters by failure' }).locator('tbody tr')
    await row.getByText('An assertion failed, answered with 200').waitFor()
    expect((await row.locator('td').first().innerText()).trim()).toBe('127.0.0.1')
    await page.setViewportSize({ width: 375, height: 900 })
    await row.getByText('shaky', { exact: true }).waitFor()
    await page.goto(`${url}/queues`)
    const card = page.locator('[data-rows] > tr', { hasText: 'shaky' })
    await card.getByRole('link', { name: '1', exact: true }).waitFor()
    expect(await card.locator('[data-head="Dead letters"]').isVisible()).toBe(true)
    await page.goto(`${url}/jobs?queue=shaky`)
    await page.locator('[data-rows] > tr').getByText('shaky', { exact: true }).waitFor()
    await page.setViewportSize({ width: 1280, height: 900 })
  })

  test('makes a queue with settings of its own, and refuses a name that there is', async () => {
    await client.makeQueue('partner', {})
    await page.goto(`${url}/queues`)
    await page.getByRole('link', { name: 'New queue' }).first().click()
    expect(new URL(page.url()).pathname).toBe('/queues/new')
    expect(await button('Create the queue').isDisabled()).toBe(true)
    await dialog().getByLabel('Name').fill('partner')
    await dialog().getByLabel('Rate limit').fill('10')
    await dialog().getByLabel('Timeout in seconds').fill('0')
    await button('Create the queue').click()
    await page.getByText('Some fields need another value.').waitFor()
    expect(await dialog().getByLabel('Timeout in seconds').getAttribute('aria-invalid')).toBe('true')
    expect(await faultsOf(page)).toEqual([])
    await dialog().getByLabel('Timeout in seconds').fill('30')
    await button('Create the queue').click()
    await dialog()
      .getByText(/exists/)
      .waitFor()
    await dialog().getByLabel('Name').fill(' partner-2 ')
    await button('Create the queue').click()
    await page.getByText('Queue “partner-2” created.').waitFor()
    await page.getByRole('heading', { level: 1, name: 'partner-2' }).waitFor()
    expect(await client.queueNamed('partner-2')).toMatchObject({
      rate_limit: { limit: 10, period_seconds: 1 },
      timeout_seconds: 30,
      retry_delays: [60, 1800, 10800],
      circuit_breaker: null,
    })
    const { token } = (
      await client.send<{ token: string }>('POST', '/api/tokens', { name: 'reads', scopes: ['read'] })
    ).body
    const viewer = await dashboard.logIn(token)
    await viewer.goto(`${url}/queues/new`)
    await viewer.getByText('partner-2').waitFor()
    expect(await viewer.getByRole('link', { name: 'New queue' }).count()).toBe(0)
    expect(await viewer.getByRole('dialog').count()).toBe(0)
    await page.goto(`${url}/queues/new`)
    await dialog().waitFor()
    await page.keyboard.press('Escape')
    await page.waitForURL(`${url}/queues`)
  })

  test('lets a queue drain, and says that it does', async () => {
    const id = await client.makeQueue('old', {})
    await open(id)
    await choose('Drain the queue …')
    await button('Drain 1 queue').click()
    await page.getByText(/It takes no new jobs; all it had have ended/).waitFor()
    expect(await queue(id)).toMatchObject({ is_draining: true, is_active: true })
    await button('Actions').click()
    expect(await item(/^Drain/).isDisabled()).toBe(true)
  })

  test('edits settings: what was changed alone, and says at the field what is wrong', async () => {
    const id = await client.makeQueue('edited', { retry_delays: [60], timeout_seconds: 20 })
    await open(id)
    await button('Edit settings').click()
    expect(await button('Nothing changed').isDisabled()).toBe(true)
    await dialog().getByLabel('Calls at once').fill('0')
    await dialog().getByLabel('Delays in seconds').fill('5, 900')
    await dialog().getByText('After 5 s, then 15 min.').waitFor()
    await dialog().getByLabel('Success assertions').fill('body_contains: ok: yes')
    await button('Change 3 settings').click()
    await page.getByText('Some fields need another value.').waitFor()
    expect(await dialog().getByLabel('Calls at once').getAttribute('aria-invalid')).toBe('true')
    expect(await faultsOf(page)).toEqual([])
    await dialog().getByLabel('Calls at once').fill('4')
    await button('Change 3 settings').click()
    await page.getByText('Settings saved.').waitFor()
    await page.getByText('At most 4 calls').waitFor()
    expect(await queue(id)).toMatchObject({
      max_parallelism: 4,
      retry_delays: [5, 900],
      timeout_seconds: 20,
      success_assertions: [{ type: 'body_contains', value: 'ok: yes' }],
    })
  })

  test('undoes nothing that others have changed meanwhile, and shows it', async () => {
    const id = await client.makeQueue('shared', { timeout_seconds: 20 })
    await open(id)
    await button('Edit settings').click()
    await dialog().getByLabel('Timeout in seconds').fill('25')
    await client.send('PATCH', `/api/queues/${id}`, { max_parallelism: 7, timeout_seconds: 21 })
    await button('Change 1 setting').click()
    await page.getByText('Nothing is saved yet').waitFor()
    await dialog().getByText('Calls at once: No limit → At most 7 calls').waitFor()
    expect(await faultsOf(page)).toEqual([])
    expect(await queue(id)).toMatchObject({ max_parallelism: 7, timeout_seconds: 21 })
    expect(await dialog().getByLabel('Calls at once').inputValue()).toBe('7')
    await button('Change 1 setting').click()
    await page.getByText('Settings saved.').waitFor()
    expect(await queue(id)).toMatchObject({ max_parallelism: 7, timeout_seconds: 25 })
  })

  test('shows that a breaker is open and lets jobs begin, for those who may operate', async () => {
    const id = await client.makeQueue('broken', { retry_delays: [3_600] })
    const breaker = { failure_percent: 50, min_calls: 2, window_seconds: 60, open_seconds: 600 }
    await client.send('PATCH', `/api/queues/${id}`, { circuit_breaker: breaker })
    await open(id)
    await page
      .getByText('When 50 % of at least 2 calls within 1 min fail, no job begins for 10 min, then one tries')
      .waitFor()
    const failing = { queue: 'broken', url: `${url}/echo?fail=99&status=500` }
    for (let pushed = 0; pushed < 2; pushed += 1) await client.push(failing)
    await page.getByText('The circuit breaker is open.').waitFor()
    await page.getByText('Circuit open', { exact: true }).waitFor()
    const { job_id: job } = await client.push(failing)
    await page.getByText(/No job begins until one tries the target in .*; 1 ready job waits\./).waitFor()
    expect(await faultsOf(page)).toEqual([])
    await page.goto(`${url}/queues`)
    await page.getByText(/^tries in (?:9 min|10 min)/).waitFor()
    await page.goto(`${url}/jobs/${job}`)
    await page.getByText('Too many calls of the queue broken failed').waitFor()
    await page.getByText(/^Waits, starts about in (?:9 min|10 min)/).waitFor()
    const { token } = (
      await client.send<{ token: string }>('POST', '/api/tokens', { name: 'looks', scopes: ['read'] })
    ).body
    const viewer = await dashboard.logIn(token)
    await open(id, viewer)
    await viewer.getByText('The circuit breaker is open.').waitFor()
    expect(await viewer.getByRole('button', { name: 'Let jobs begin now' }).count()).toBe(0)
    await open(id)
    await button('Let jobs begin now').click()
    await page.getByText('Jobs of queue “broken” may begin').waitFor()
    await page.getByText('The circuit breaker is open.').waitFor({ state: 'hidden' })
    expect(await queue(id)).toMatchObject({ throttled: null, is_active: true })
  })

  test('shows when the rate lets the next job begin, without a way to end that', async () => {
    const id = await client.makeQueue('slow', {})
    await client.send('PATCH', `/api/queues/${id}`, { rate_limit: { limit: 1, period_seconds: 3_600 } })
    for (let pushed = 0; pushed < 3; pushed += 1) await client.push({ queue: 'slow', url: `${url}/echo` })
    await open(id)
    await page
      .getByText(
        /^At its rate limit\. At most 1 call an hour\. The next job begins in .*; 2 ready jobs wait\.$/,
      )
      .waitFor()
    await page.getByText('Rate limited', { exact: true }).waitFor()
    expect(await button('Let jobs begin now').count()).toBe(0)
    expect(await faultsOf(page)).toEqual([])
  })

  test('says in words what each limit of the calls means while it is typed', async () => {
    const id = await client.makeQueue('flow', {})
    await open(id)
    await button('Edit settings').click()
    await dialog().getByLabel('Rate limit').fill('600')
    await dialog().getByLabel('Period, in seconds').fill('60')
    await dialog()
      .getByText('At most 600 calls a minute, about one every 100 ms. Retries and replays')
      .waitFor()
    await dialog().getByLabel('Stop calling a target that fails').check()
    await dialog().getByLabel('Calls needed to judge').fill('0')
    await dialog().getByLabel('Open for, in seconds').fill('5')
    await dialog().getByLabel('Wait as long as the target asks').check()
    await dialog().getByLabel('Delays are longer by up to, in %').fill('20')
    await dialog().getByLabel('Statuses without a retry').fill('404, 410')
    await button('Change 4 settings').click()
    await page.getByText('Some fields need another value.').waitFor()
    expect(await dialog().getByLabel('Calls needed to judge').getAttribute('aria-invalid')).toBe('true')
    expect(await faultsOf(page)).toEqual([])
    await dialog().getByLabel('Calls needed to judge').fill('20')
    await dialog()
      .getByText('When 50 % of at least 20 calls within 1 min fail, no job begins for 5 s')
      .waitFor()
    await button('Change 4 settings').click()
    await page.getByText('Settings saved.').waitFor()
    expect(await queue(id)).toMatchObject({
      rate_limit: { limit: 600, period_seconds: 60 },
      respect_retry_after: true,
      circuit_breaker: { failure_percent: 50, min_calls: 20, window_seconds: 60, open_seconds: 5 },
      no_retry_statuses: [404, 410],
      retry_jitter_percent: 20,
    })
    await button('Edit settings').click()
    await dialog().getByLabel('Rate limit').fill('')
    await dialog().getByLabel('Stop calling a target that fails').uncheck()
    await button('Change 2 settings').click()
    await page.getByText('Settings saved.').last().waitFor()
    await expect.poll(() => queue(id)).toMatchObject({ rate_limit: null, circuit_breaker: null })
  })

  test('counts jobs as links, purges dead letters and deletes a queue when its name is typed', async () => {
    const failing = { queue: 'failing', url: `${url}/echo?fail=99&status=500`, retry_delays: [1] }
    const { queue_id: id, job_id: job } = await client.push(failing)
    await client.ended(job)
    await open(id)
    await page.getByRole('link', { name: /^Dead letters 1/ }).waitFor()
    expect(await page.getByRole('link', { name: /^Ready/ }).getAttribute('href')).toContain(
      '/jobs?queue=failing&status=pending',
    )
    await choose('Purge 1 dead letter …')
    expect(await button('Purge 1 dead letter').isDisabled()).toBe(true)
    await dialog().getByRole('textbox').fill('failing')
    await button('Purge 1 dead letter').click()
    await page.getByRole('link', { name: /^Dead letters 0/ }).waitFor()
    await choose('Delete the queue …')
    await dialog().getByRole('textbox').fill('failing ')
    expect(await button(/^Delete the queue/).isDisabled()).toBe(true)
    await dialog().getByRole('textbox').fill('failing')
    await button('Delete the queue and 0 jobs').click()
    await page.getByRole('heading', { name: 'Queues', exact: true }).waitFor()
    expect(await client.queueNamed('failing')).toBe(null)
    await open(id)
    await page.getByText('There is no such queue').waitFor()
    expect(await faultsOf(page)).toEqual([])
  })

  test('says which window holds it', async () => {
    const id = await client.makeQueue('held', {})
    const at = (ms: number): string => new Date(Date.now() + ms).toISOString()
    const { status } = await client.send('POST', '/api/maintenance-windows', {
      name: 'move',
      resource: { kind: 'queue', id },
      action: 'hold',
      reason: 'It moves.',
      start_at: at(-1_000),
      end_at: at(3_600_000),
    })
    expect(status).toBe(201)
    await open(id)
    await page.getByText('Held', { exact: true }).first().waitFor()
    await page
      .getByText(/^Held by the window move, which ends in .*: “It moves.” Jobs wait until then/)
      .waitFor()
    expect(await faultsOf(page)).toEqual([])
  })

  test('shows what Git manages as YAML in place of an edit, and lets it be paused', async () => {
    const id = await client.makeQueue('managed', { max_parallelism: 3 })
    const argo: ManagedBy = { tool: 'argo_cd', name: 'shop', read_only: false }
    // No cluster is here: the answer of one is put in its place.
    await page.route(`**/api/queues/${id}`, async (route) => {
      const response = await route.fetch()
      await route.fulfill({ response, json: { ...((await response.json()) as Queue), managed_by: argo } })
    })
    await open(id)
    await page.getByText('Managed by Argo CD (shop)').waitFor()
    expect(await button('Edit settings').isDisabled()).toBe(true)
    await button('Show it as YAML').click()
    await dialog().getByText('maxParallelism: 3').waitFor()
    expect(await faultsOf(page)).toEqual([])
    await page.keyboard.press('Escape')
    await button('Pause the queue').click()
    await dialog().getByText('Argo CD (shop) manages it and may undo this.').waitFor()
    await page.unrouteAll({ behavior: 'wait' })
  })

  test('gives a viewer nothing to do, and an operator what it may', async () => {
    const id = await client.makeQueue('seen', {})
    const made = async (scopes: readonly string[]) =>
      (await client.send<{ token: string }>('POST', '/api/tokens', { name: scopes[0], scopes })).body.token
    const viewer = await dashboard.logIn(await made(['read']))
    await open(id, viewer)
    await viewer.getByRole('heading', { name: 'seen' }).waitFor()
    for (const name of ['Pause the queue', 'Edit settings']) {
      expect(await viewer.getByRole('button', { name }).count()).toBe(0)
    }
    await viewer.getByRole('button', { name: 'Actions' }).click()
    expect(await viewer.getByRole('menuitem', { name: /^Delete/ }).isDisabled()).toBe(true)
    expect(await faultsOf(viewer)).toEqual([])
    const operator = await dashboard.logIn(await made(['operate']))
    await open(id, operator)
    await operator.getByRole('button', { name: 'Pause the queue' }).press('Enter')
    await operator.getByLabel('Why').press('Enter')
    await operator.getByText(/^Paused .* by operate in the dashboard\./).waitFor()
    expect(await queue(id)).toMatchObject({ is_active: false })
    await operator.getByRole('button', { name: 'Actions' }).press('Enter')
    expect(await operator.getByRole('menuitem', { name: /^Edit/ }).isDisabled()).toBe(true)
  })

  test('shows the hour before on its charts, and a drag opens the jobs of that span', async () => {
    const { queue_id: id, job_id: job } = await client.push({ queue: 'charted', url: `${url}/echo` })
    await client.ended(job)
    await open(id)
    await page.getByText('Succeeded, hour before').waitFor()
    expect(await page.locator('svg .chart-before').count()).toBe(6)
    await page.getByText('The worst minute in 1 hour', { exact: true }).first().waitFor()
    const chart = await boxOf(page, /^Jobs that ended/)
    await page.mouse.move(chart.left + 0.25 * chart.width, chart.middle)
    await page.mouse.down()
    await page.mouse.move(chart.left + 0.5 * chart.width, chart.middle, { steps: 3 })
    await page.mouse.up()
    await page.waitForURL(/\/jobs\?/)
    const asked = spanIn(page)
    expect(asked).toMatchObject({ queue: 'charted', status: null })
    // A quarter of 59 minutes between the first point and the last, and the minute of its last point.
    expect([15, 16, 17]).toContain(asked.minutes)
    await page.goBack()
    const failures = await boxOf(page, /^Failures/)
    await page.mouse.move(failures.left + 0.9 * failures.width, failures.middle)
    await page.mouse.down()
    await page.mouse.move(failures.left + 0.8 * failures.width, failures.middle, { steps: 3 })
    await page.mouse.up()
    await page.waitForURL(/\/jobs\?/)
    expect(spanIn(page)).toMatchObject({ queue: 'charted', status: 'failed' })
    expect(spanIn(page).minutes).toBeGreaterThan(4)
  })

  test('lets keys and taps choose the time on a chart, and its table lead to jobs', async () => {
    const id = await client.makeQueue('keyed', {})
    await open(id)
    const chart = page.getByRole('slider', { name: /^Latency/ })
    const jobs = page.getByRole('link', { name: 'Jobs of this time' })
    await chart.press('ArrowLeft')
    await jobs.waitFor()
    expect(await chart.getAttribute('aria-valuetext')).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d$/)
    await chart.press('Escape')
    await jobs.waitFor({ state: 'detached' })
    await chart.press('End')
    await chart.press('Shift+ArrowLeft')
    await chart.press('Shift+ArrowLeft')
    expect(await faultsOf(page)).toEqual([])
    await chart.press('Enter')
    await page.waitForURL(/\/jobs\?/)
    expect(spanIn(page)).toMatchObject({ queue: 'keyed', minutes: 3 })
    await page.goBack()
    const { left, width, middle } = await boxOf(page, /^Latency/)
    await page.mouse.click(left + 0.5 * width, middle)
    await jobs.click()
    await page.waitForURL(/\/jobs\?/)
    expect(spanIn(page)).toMatchObject({ queue: 'keyed', minutes: 1 })
    await page.goBack()
    await button('As a table').first().click()
    await page
      .getByRole('link', { name: /^\d{4}-\d\d-\d\d \d\d:\d\d:00$/ })
      .first()
      .click()
    await page.waitForURL(/\/jobs\?/)
    expect(spanIn(page)).toMatchObject({ queue: 'keyed', minutes: 1 })
  })

  test('shows a hostile name as what it is, and asks to type another text', async () => {
    const script = '<script>window.hit = 1</script>'
    const name = `\u202E${script}\u0007${'x'.repeat(200)}`
    const { queue_id: id } = await client.push({ queue: name, url: `${url}/echo` })
    await client.send('POST', `/api/queues/${id}/pause`, { reason: `\u202E${script}` })
    await open(id)
    await page.getByText('Paused').first().waitFor()
    expect(await faultsOf(page)).toEqual([])
    await choose('Delete the queue …')
    expect(await faultsOf(page)).toEqual([])
    await dialog().getByRole('textbox').fill(`queue ${id}`)
    await button(/^Delete the queue/).click()
    await page.getByRole('heading', { name: 'Queues', exact: true }).waitFor()
    expect(await page.evaluate('window.hit')).toBe(undefined)
  })
})
