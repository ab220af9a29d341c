import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import type { ManagedBy, Queue, QueueState } from '../../clients/typescript/src/client.ts'
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
      ...{ max_parallelism: 4, retry_delays: [5, 900], timeout_seconds: 20 },
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
    expect(await button(/^Delete 1 queue/).isDisabled()).toBe(true)
    await dialog().getByRole('textbox').fill('failing')
    await button('Delete 1 queue and 0 jobs').click()
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
      ...{ name: 'move', resource: { kind: 'queue', id }, action: 'hold', reason: 'It moves.' },
      ...{ start_at: at(-1_000), end_at: at(3_600_000) },
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
    await button(/^Delete 1 queue/).click()
    await page.getByRole('heading', { name: 'Queues', exact: true }).waitFor()
    expect(await page.evaluate('window.hit')).toBe(undefined)
  })
})
