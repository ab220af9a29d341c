import { execFileSync } from 'node:child_process'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ApiClient, Push } from '../support/servers/api-client.ts'
import { startRawTarget } from '../support/targets/outbound-targets.ts'
import { startTarget, statuses, type Target } from '../support/targets/target.ts'
import { type Dashboard, faultsOf } from './support/browser.ts'
import { createDashboardWorld } from './support/dashboard-world.ts'

const { missing, open: openWorld } = createDashboardWorld()
let target: Target
let url = ''
let client: ApiClient
let dashboard: Dashboard
let page: Page

beforeAll(async () => {
  if (missing !== null) return
  target = await startTarget()
  ;({ url, client, dashboard, page } = await openWorld())
})
afterAll(() => target?.close())

const echo = (query = ''): string => `${url}/echo${query}`
const field = (name: string) => page.getByRole('textbox', { name, exact: true })
const button = (name: string | RegExp) => page.getByRole('button', { name })

async function open(path: string): Promise<void> {
  await page.goto(`${url}${path}`)
}

async function choose(action: RegExp): Promise<void> {
  await button('Actions').click()
  await page.getByRole('menuitem', { name: action }).click()
}

async function deadLetter(push: Push = {}): Promise<number> {
  const given = { queue: 'webhooks', url: echo('?fail=99&status=500'), retry_delays: [1], ...push }
  const { job_id: id } = await client.push(given)
  await client.ended(id)
  return id
}

async function newToken(name: string, scopes: readonly string[]): Promise<string> {
  const { body } = await client.send<{ token: string }>('POST', '/api/tokens', { name, scopes })
  return body.token
}

describe.skipIf(missing !== null)(`a browser (${missing ?? 'there is one'})`, () => {
  test('leads a new team to its first job, which turns the page green', async () => {
    await page.getByText('Your first job').waitFor()
    expect(await faultsOf(page)).toEqual([])
    await button('Make a token').click()
    const told = await page.locator('pre', { hasText: 'export' }).innerText()
    const made = /'(pun_[^']+)'/.exec(told)?.[1] ?? ''
    const command = await page.locator('pre', { hasText: 'curl' }).innerText()
    execFileSync('/bin/sh', ['-c', command], {
      env: { ...process.env, PUNCTUAL_TOKEN: made },
      stdio: 'ignore',
    })
    await page.getByText('The first job has landed').waitFor()
    expect(await faultsOf(page)).toEqual([])
  })

  test('sends a job, and says at each field what is wrong with it', async () => {
    await page.getByRole('link', { name: 'Send a job' }).click()
    await page.getByRole('combobox', { name: 'Queue' }).fill('by-hand')
    await button('one that fails twice first').click()
    await field('Body').fill('{"a": 12345678901234567890,')
    await page.getByText('It is not JSON').waitFor()
    expect(await button('Send 1 job').isDisabled()).toBe(true)
    await field('Body').fill('{"a": 12345678901234567890}')
    await field('Headers').fill('Host: x')
    await page.getByRole('combobox', { name: 'Retries' }).selectOption('own')
    await field('Delays in seconds').fill('0, 900')
    await button('Send 1 job').click()
    await page.getByText('Some fields need another value.').waitFor()
    for (const name of ['Headers', 'Delays in seconds']) {
      expect(await field(name).getAttribute('aria-invalid')).toBe('true')
    }
    expect(await faultsOf(page)).toEqual([])
    await field('Headers').fill("X-Q: '; touch x #")
    await field('Delays in seconds').fill('1, 900')
    await button('JSON').click()
    expect(await field('The job as JSON').inputValue()).toContain('12345678901234567890')
    await button('Send 1 job').click()
    await page.getByRole('link', { name: 'Show it' }).click()
    await page.getByText(/Retry 2 of 2 starts/).waitFor()
    expect(await faultsOf(page)).toEqual([])
  })

  test('says what HTTP/1.1 does not allow in an answer, and that headers were left out', async () => {
    const shown = new URL(page.url()).pathname
    const large = `X-Large: ${'a'.repeat(20_000)}`
    const odd = await startRawTarget((socket) =>
      socket.end(`HTTP/1.1 200 OK\nX-Powered-By : x\n${large}\nContent-Length: 9\n\nok`),
    )
    const { job_id: id } = await client.push({ queue: 'odd', url: odd.url })
    expect(await client.ended(id)).toMatchObject({ final_status: 'success' })
    await open(`/jobs/${id}`)
    await page.getByText('HTTP/1.1 does not allow this. Lines of the head end in LF alone.').waitFor()
    await page.getByText('The body ended after 2 of 9 bytes.').waitFor()
    await page.getByText('Further headers came, which are not kept.').waitFor()
    expect(await faultsOf(page)).toEqual([])
    await odd.close()
    await open(shown)
  })

  test('says that a response is not kept where the queue says so', async () => {
    const shown = new URL(page.url()).pathname
    const target = await startRawTarget((socket) =>
      socket.end('HTTP/1.1 200 OK\nX-Canary: canary\nContent-Length: 6\n\ncanary'),
    )
    await client.send('POST', '/api/queues', { name: 'secretive', record_responses: 'none' })
    const { job_id: id } = await client.push({ queue: 'secretive', url: target.url })
    await client.ended(id)
    await open(`/jobs/${id}`)
    await page.getByText('Headers and body are not kept: the queue or the cron says so.').waitFor()
    expect(await page.getByText('canary').count()).toBe(0)
    expect(await faultsOf(page)).toEqual([])
    await target.close()
    await open(shown)
  })

  test('retries it now, and follows it to its end', async () => {
    await button('Retry now').click()
    await page.getByText(/Succeeded with attempt 3/).waitFor()
    await page.getByText('Done by hand').waitFor()
    await button(/^Attempt 1/).click()
    await page.getByText('Status 503').waitFor()
    await button('Copy as curl').click()
    const copied = String(await page.evaluate('navigator.clipboard.readText()'))
    expect(copied).toContain(`-H 'X-Q: '\\''; touch x #'`)
    expect(copied).toContain('12345678901234567890')
    expect(await faultsOf(page)).toEqual([])
  })

  test('replays a dead letter with one field changed, and all others as they were', async () => {
    target.route('/refused', statuses(500))
    const headers = { Authorization: 'Bearer s3cret', 'X-Shop': 'north' }
    const id = await deadLetter({ url: `${target.url}/refused`, headers })
    await open(`/jobs/${id}`)
    await page.getByText(/It can be replayed until it expires in 14 d/).waitFor()
    await choose(/^Edit and replay/)
    await page.getByRole('dialog').getByLabel('URL', { exact: true }).fill(`${target.url}/taken`)
    await page.getByText('1 field changed').waitFor()
    expect(await faultsOf(page)).toEqual([])
    await button('Replay with changes').click()
    await page
      .getByText(/^Succeeded/)
      .first()
      .waitFor()
    const made = page.url().split('/').at(-1) ?? ''
    expect(made).not.toBe(String(id))
    expect(await client.job(made)).toMatchObject({
      headers: { Authorization: '(hidden)', 'X-Shop': 'north' },
    })
    expect(target.arrivals('/taken')).toMatchObject([
      { headers: { authorization: 'Bearer s3cret', 'x-shop': 'north' } },
    ])
    await open(`/jobs/${id}`)
    await page.getByText('It was replayed as').waitFor()
    expect(await faultsOf(page)).toEqual([])
  })

  test('works by keyboard alone, and Esc leaves a dialog', async () => {
    await button('Actions').press('Enter')
    await page.getByRole('menuitem', { name: /^Duplicate/ }).press('Enter')
    await page.getByRole('dialog').getByRole('combobox', { name: 'Queue' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(await button('Actions').isVisible()).toBe(true)
  })

  test('cancels a job when that is confirmed', async () => {
    const { job_id: id } = await client.push({ queue: 'emails', url: echo(), delay: 3600 })
    await open(`/jobs/${id}`)
    await choose(/^Cancel/)
    expect(await faultsOf(page)).toEqual([])
    await button('Cancel 1 job').click()
    await page.getByText(`Job ${id} cancelled; it was never sent`).waitFor()
    expect((await client.send('GET', `/api/jobs/${id}`)).status).toBe(404)
    await open(`/jobs/${id}`)
    await page.getByText('There is no such job').waitFor()
    expect(await faultsOf(page)).toEqual([])
  })

  test('shows a viewer masks and nothing to do, and an operator what is missing', async () => {
    const id = await deadLetter({ headers: { Authorization: 'Bearer s3cret' } })
    const viewer = await dashboard.logIn(await newToken('viewer', ['read']))
    await viewer.goto(`${url}/jobs/${id}`)
    await viewer.getByText('Headers and bodies are masked').waitFor()
    expect(await viewer.getByRole('button', { name: 'Actions' }).count()).toBe(0)
    expect(await viewer.content()).not.toContain('s3cret')
    await viewer.goto(`${url}/send`)
    await viewer.getByText('You may not send jobs').waitFor()
    const operator = await dashboard.logIn(await newToken('operator', ['operate']))
    await operator.goto(`${url}/jobs/${id}`)
    await operator.getByRole('button', { name: 'Actions' }).click()
    expect(await operator.getByRole('menuitem', { name: /^Edit and replay/ }).isDisabled()).toBe(true)
    await operator.getByText('It needs the permission to push').first().waitFor()
    expect(await faultsOf(operator)).toEqual([])
  })

  test('shows hostile strings as what they are', async () => {
    const script = '<script>window.hit = 1</script>'
    const { job_id: id } = await client.push({
      queue: `\u202E${script}`,
      url: echo(`?${'x'.repeat(1_500)}`),
      payload: { [script]: `</script>${script}`, '\u0007': '\u202Ertl' },
      headers: { 'X-Q': '<img src=x onerror=alert(1)>' },
      tags: { '<b>': '<i>'.repeat(80), long: 'y'.repeat(256) },
      callback_url: echo(`?${'z'.repeat(900)}`),
    })
    await client.ended(id)
    for (const path of [`/jobs/${id}`, `/send?from=${id}`]) {
      await open(path)
      await page.getByText('window.hit').first().waitFor({ state: 'attached' })
      expect(await faultsOf(page)).toEqual([])
      expect(await page.evaluate('window.hit')).toBe(undefined)
    }
  })
})
