import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { type ApiClient, createApiClient } from '../support/servers/api-client.ts'
import type { StandaloneWorld } from '../support/servers/standalone-world.ts'
import { type Dashboard, enter, faultsOf } from './support/browser.ts'
import { createDashboardWorld } from './support/dashboard-world.ts'

const SETTINGS = `apiVersion: punctual.dev/v1alpha1
kind: TeamSettings
metadata: { name: team }
spec:
  notifications:
    channels:
      - { name: on-call, type: Webhook, secretRef: { name: hooks, key: on-call } }
      - { name: gone, type: Webhook, alertTypes: [Warning], secretRef: { name: hooks, key: gone } }
`

/** To look through the memory of a page takes seconds. */
const SLOW_MS = 180_000

const { missing, open: openWorld } = createDashboardWorld()
let url = ''
let token = ''
let client: ApiClient
let dashboard: Dashboard
let page: Page
let targetUrl = ''

beforeAll(async () => {
  if (missing === null) ({ url, token, client, dashboard, page } = await openWorld(writeTeam))
})

/** A team with two channels, one of which is gone. */
async function writeTeam(folder: string, { newTarget }: StandaloneWorld): Promise<void> {
  const [resources, target] = [join(folder, 'resources'), await newTarget()]
  mkdirSync(resources)
  targetUrl = target.url
  writeFileSync(join(resources, 'team.yaml'), SETTINGS)
  const hooks = { 'on-call': `${target.url}/on-call`, gone: `${target.url}/gone` }
  target.route('/gone', () => ({ status: 410 }))
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'hooks' }, stringData: hooks }
  writeFileSync(join(resources, 'hooks.yaml'), JSON.stringify(secret), { mode: 0o600 })
}

const button = (name: string | RegExp) => page.getByRole('button', { name })
const dialog = () => page.getByRole('dialog')

async function open(path: string): Promise<void> {
  await page.goto(`${url}${path}`)
}

/** Refused reads of a page whose session has ended are in the console, and nothing else is. */
function expectRefusalsAlone(): void {
  expect(dashboard.reported().filter((report) => !report.includes('401'))).toEqual([])
}

async function newToken(name: string, scopes: readonly string[]): Promise<string> {
  const { body } = await client.send<{ token: string }>('POST', '/api/tokens', { name, scopes })
  return body.token
}

/** Whether a text is anywhere in the memory of the page, after what nothing holds has been collected. */
async function isInMemory(text: string): Promise<boolean> {
  const session = await page.context().newCDPSession(page)
  const pieces: string[] = []
  session.on('HeapProfiler.addHeapSnapshotChunk', ({ chunk }) => pieces.push(chunk))
  await session.send('HeapProfiler.collectGarbage')
  await session.send('HeapProfiler.takeHeapSnapshot', { reportProgress: false })
  await session.detach()
  return pieces.join('').includes(text)
}

describe.skipIf(missing !== null)(`access (${missing ?? 'there is a browser'})`, () => {
  test('a link logs in by itself and says as whom, but asks first where a page of others led to it', async () => {
    const newLink = async () =>
      `${url}/#code=${(await client.send<{ code: string }>('POST', '/api/session/code')).body.code}`
    const own = await dashboard.newPage()
    await own.goto(await newLink())
    const note = own.locator('.toast', { hasText: /A link has logged you in as \S+ in team default/ })
    await note.waitFor()
    expect(own.url()).toBe(`${url}/`)
    await note.getByRole('button', { name: 'Log out' }).click()
    await own.getByLabel('Token').waitFor()
    // What the page asked while its session ended is refused.
    expect(dashboard.reported().filter((text) => !text.includes('401'))).toEqual([])

    const led = await dashboard.newPage()
    await led.setContent(`<a href="${await newLink()}" rel="noreferrer">Free tea</a>`)
    await led.getByRole('link').click()
    await led.getByText('logs you in as whoever made it').waitFor()
    await led.keyboard.press('Enter')
    expect(await led.context().cookies()).toEqual([])
    expect(await faultsOf(led)).toEqual([])
    // A link whose maker nobody can ask about now can be used again.
    const away = { status: 503, json: { error: 'The API server does not answer' } }
    await led.route('**/api/session', (route) => route.fulfill(away), { times: 1 })
    const go = led.getByRole('button', { name: 'Log in by the link' })
    await go.click()
    await led.getByText('The API server does not answer.').waitFor()
    expect(dashboard.reported()).toEqual([expect.stringContaining('503')])
    await go.click()
    await led.getByText('A link has logged you in').waitFor()
    expect(await faultsOf(led)).toEqual([])
  })

  test('a link of a user of the cluster shows the team that it was made for', async () => {
    const user = await dashboard.newPage()
    const at = new Date().toISOString()
    const opened = { kind: 'user', subject: 'ann', team: null, opened_for: 'shop' }
    const times = { created_at: at, idle_expires_at: at, expires_at: at }
    await user.route('**/api/session', (route) =>
      route.fulfill({ status: 201, json: { ...opened, ...times } }),
    )
    await user.route('**/api/me', (route) => route.fulfill({ status: 404, json: { error: 'Not found' } }))
    const asked = user.waitForRequest('**/api/me')
    await user.goto(`${url}/#code=x`)
    expect(await (await asked).headerValue('x-punctual-team')).toBe('shop')
  })

  test('a login at a provider leads back to the page that one came from, once', async () => {
    const user = await dashboard.newPage()
    // As where a provider is set up, which a standalone has not.
    await user.route(`${url}/**`, async (route) => {
      if (!route.request().isNavigationRequest()) return route.fallback()
      const response = await route.fetch()
      const body = (await response.text()).replace('<html ', '<html data-login-at="Example" ')
      return route.fulfill({ response, body })
    })
    await user.route('**/api/login/oidc', async (route) => {
      const headers = { authorization: `Bearer ${token}`, 'x-punctual-request': '1' }
      expect((await user.request.post(`${url}/api/session`, { headers })).status()).toBe(201)
      await route.fulfill({ status: 303, headers: { location: `${url}/` } })
    })
    await user.goto(`${url}/jobs?queue=emails`)
    await user.getByRole('button', { name: 'Log in at Example' }).click()
    await user.getByRole('heading', { level: 1, name: 'Jobs' }).waitFor()
    expect(user.url()).toBe(`${url}/jobs?queue=emails`)
    await user.goto(`${url}/`)
    await user.getByRole('navigation', { name: 'Screens' }).waitFor()
    expect(user.url()).toBe(`${url}/`)
  })

  test(
    'makes a token with limits, and forgets it when the dialog closes',
    async () => {
      await open('/access')
      await page.getByText('No tokens yet').waitFor()
      expect(await faultsOf(page)).toEqual([])
      await button('Make a token').click()
      await page.getByLabel('Name', { exact: true }).fill('Not A Name')
      await page.getByRole('textbox', { name: 'Queues' }).fill('emails\ninvoices')
      await button('Make the token').click()
      await page.getByText('Some fields need another value.').waitFor()
      expect(await page.getByLabel('Name', { exact: true }).getAttribute('aria-invalid')).toBe('true')
      await page.getByLabel('Name', { exact: true }).fill('ci')
      await page.getByRole('checkbox', { name: /^read/ }).check()
      await page.getByLabel('Requests a second').fill('50')
      expect(await faultsOf(page)).toEqual([])
      await button('Make the token').click()
      const made = await dialog().locator('pre').first().innerText()
      expect(await faultsOf(page)).toEqual([])
      expect(await isInMemory(made)).toBe(true)
      const { body: me } = await createApiClient(url, made).send('GET', '/api/me')
      expect(me).toMatchObject({ subject: 'ci', scopes: ['push', 'read'], queues: ['emails', 'invoices'] })
      // A slip of the mouse does not lose it.
      await page.mouse.click(3, 3)
      expect(await dialog().isVisible()).toBe(true)
      await button('I have stored it').click()
      await dialog().waitFor({ state: 'detached' })
      await page.getByRole('cell', { name: 'push, read' }).waitFor()
      await expect.poll(() => isInMemory(made), { timeout: 60_000, interval: 500 }).toBe(false)
      expect(await faultsOf(page)).toEqual([])
    },
    SLOW_MS,
  )

  test('revokes a token when that is confirmed', async () => {
    const doomed = createApiClient(url, await newToken('doomed', ['read']))
    await open('/access')
    expect((await doomed.send('GET', '/api/me')).status).toBe(200)
    await button('Revoke doomed').click()
    expect(await faultsOf(page)).toEqual([])
    await button('Cancel').click()
    expect((await doomed.send('GET', '/api/me')).status).toBe(200)
    await button('Revoke doomed').click()
    await button('Revoke the token').click()
    await page.getByText('Token doomed revoked').waitFor()
    await expect.poll(async () => (await doomed.send('GET', '/api/me')).status).toBe(401)
    await button('Revoke doomed').waitFor({ state: 'detached' })
  })

  test(
    'rotates a signing secret, and forgets its value',
    async () => {
      await open('/access')
      await page.getByRole('link', { name: 'Signing secrets' }).click()
      await page.getByText('Calls go out unsigned').waitFor()
      expect(await faultsOf(page)).toEqual([])
      const listed = async () => {
        const { body } = await client.send<{ signing_secrets: Array<{ id: string; is_newest: boolean }> }>(
          'GET',
          '/api/signing-secrets',
        )
        return body.signing_secrets
      }
      for (const begin of ['Make a signing secret', 'Rotate']) {
        await button(begin).click()
        expect(await faultsOf(page)).toEqual([])
        await button('Make the signing secret').click()
        const made = await dialog().locator('pre').innerText()
        expect(made).toMatch(/^whsec_/)
        await button('I have stored it').click()
        await dialog().waitFor({ state: 'detached' })
        await expect.poll(() => isInMemory(made), { timeout: 60_000, interval: 500 }).toBe(false)
      }
      const older = page.getByRole('row').filter({ hasText: 'Signs until deleted' })
      await older.waitFor()
      expect(await button('Rotate').isDisabled()).toBe(true)
      expect(await faultsOf(page)).toEqual([])
      const [newest] = await listed()
      await older.getByRole('button').click()
      await button('Delete the signing secret').click()
      await older.waitFor({ state: 'detached' })
      expect(await listed()).toEqual([newest])
      // The last one is not lost by a click.
      await button(/^Delete punctual/).click()
      expect(await button('Delete the signing secret').isDisabled()).toBe(true)
      await page.keyboard.press('Escape')
    },
    SLOW_MS,
  )

  test('says what one may, and how to give a role', async () => {
    await open('/access?tab=roles')
    await page.getByText('kubectl -n default create rolebinding').waitFor()
    expect(await page.getByText('Yes', { exact: true }).count()).toBe(7)
    expect(await faultsOf(page)).toEqual([])
  })

  test('shows a viewer what they may, and nothing to change', async () => {
    const viewer = await dashboard.logIn(await newToken('viewer', ['read']))
    await viewer.goto(`${url}/access`)
    await viewer.getByText('Give somebody a role').waitFor()
    expect(await viewer.getByText('No', { exact: true }).count()).toBe(6)
    for (const tab of ['tokens', 'secrets']) {
      await viewer.goto(`${url}/access?tab=${tab}`)
      await viewer.getByText('It needs the permission admin').waitFor()
      expect(await viewer.getByRole('button', { name: 'Make' }).count()).toBe(0)
    }
    await viewer.goto(`${url}/audit`)
    await viewer.getByText('It needs the permission to operate').waitFor()
    await viewer.goto(`${url}/notifications`)
    const test = viewer.getByRole('button', { name: 'Test' })
    await test.first().waitFor()
    expect(await test.first().isDisabled()).toBe(true)
    expect(await faultsOf(viewer)).toEqual([])
  })

  test('tests channels, and shows what each said', async () => {
    await open('/notifications')
    const channel = (name: string) => page.getByRole('listitem').filter({ hasText: name })
    await channel('on-call').getByText('Not used yet').waitFor()
    expect(await faultsOf(page)).toEqual([])
    await button('Test 2 channels').click()
    await channel('on-call').getByText('Test taken').waitFor()
    await channel('on-call').getByText('200').waitFor()
    await channel('gone').getByText('Test not taken').waitFor()
    await channel('gone').getByText('410').waitFor()
    await channel('gone').getByText('Last test failed').waitFor()
    expect(await faultsOf(page)).toEqual([])
  })

  test('adds a channel that takes a test message, and none that does not', async () => {
    await open('/notifications?new=channel')
    await dialog().getByLabel('Name').fill('desk')
    await dialog().getByLabel('Sends to').selectOption('Webhook')
    await dialog().getByLabel('URL').fill(`${targetUrl}/gone`)
    expect(await faultsOf(page)).toEqual([])
    await button('Test and add the channel').click()
    await dialog().getByText('410').waitFor()
    dashboard.reported()
    await dialog().getByLabel('URL').fill(`${targetUrl}/on-call`)
    await dialog().getByLabel('Warnings', { exact: true }).check()
    await button('Test and add the channel').click()
    await page.getByText('Channel desk took a test message').waitFor()
    const added = page.getByRole('listitem').filter({ hasText: 'desk' })
    await added.getByText('failures, recoveries, limit warnings, warnings').waitFor()
    await added.getByText('200').waitFor()
    await button('Delete desk').click()
    await button('Delete the channel').click()
    await page.getByText('Channel desk deleted').waitFor()
    await added.waitFor({ state: 'detached' })
    expect(await faultsOf(page)).toEqual([])
  })

  test('tells who did what, by filters that stand in the address', async () => {
    const hostile = '\u202E<img src=x onerror=alert(1)>'
    const id = await client.makeQueue(hostile, { max_parallelism: 3 })
    await client.send('PATCH', `/api/queues/${id}`, { max_parallelism: 7, timeout_seconds: 9 })
    await client.send('POST', `/api/queues/${id}/pause`)
    await open('/audit')
    const told = (text: string | RegExp) => page.getByRole('row').filter({ hasText: text })
    await told(/paused the queue/).waitFor()
    const edited = told(/edited the queue/).filter({ hasText: '2 fields' })
    await edited.locator('summary').click()
    await edited.getByText('max_parallelism 3 → 7').waitFor()
    expect(await faultsOf(page)).toEqual([])
    await page.getByRole('combobox', { name: 'Action' }).selectOption('pause')
    await edited.waitFor({ state: 'detached' })
    expect(page.url()).toContain('action=pause')
    await page.getByRole('textbox', { name: 'Name or id' }).fill('no such thing')
    await page.keyboard.press('Enter')
    await page.getByText('No change matches these filters').waitFor()
    await button('Clear the filters').click()
    await told(/paused the queue/)
      .getByRole('link')
      .click()
    await page.waitForURL(`**/queues/${id}`)
  })

  test('shows where one is logged in, and ends one session there', async () => {
    const userAgent = 'Mozilla/5.0 (Windows NT 10.0; rv:142.0) Gecko/20100101 Firefox/142.0'
    const elsewhere = await dashboard.newPage({ userAgent })
    await elsewhere.goto(url)
    await enter(elsewhere, token)
    await open('/access?tab=sessions')
    const own = page.getByRole('table', { name: 'Your sessions' })
    const current = own.getByRole('row').filter({ hasText: 'This browser' })
    await current.getByText(/Chrome on \w+/).waitFor()
    expect(await current.getByRole('button').count()).toBe(0)
    await page.getByRole('table', { name: 'Sessions of the team' }).waitFor()
    expect(await faultsOf(page)).toEqual([])
    const ends = own.getByRole('button', { name: /^End the session on Firefox on Windows at / })
    await ends.click()
    await dialog().getByText('has to log in again').waitFor()
    expect(await faultsOf(page)).toEqual([])
    await dialog().getByRole('button', { name: 'End the session' }).click()
    await dialog().waitFor({ state: 'detached' })
    await ends.waitFor({ state: 'detached' })
    await elsewhere.reload()
    await elsewhere.getByLabel('Token').waitFor()
    expectRefusalsAlone()
    await page.reload()
    await current.waitFor()
  })

  test('an admin ends all sessions of somebody for the team', async () => {
    const other = await dashboard.logIn(await newToken('on-leave', ['read']))
    await open('/access?tab=sessions')
    await button('End all sessions of on-leave').click()
    await dialog().getByText('The token can log in again until you revoke it.').waitFor()
    expect(await faultsOf(page)).toEqual([])
    await dialog().getByRole('button', { name: 'End the sessions' }).click()
    await page.getByText('Sessions ended').waitFor()
    await button('End all sessions of on-leave').waitFor({ state: 'detached' })
    await other.reload()
    await other.getByLabel('Token').waitFor()
    expectRefusalsAlone()
  })

  test('logs out everywhere', async () => {
    const elsewhere = await dashboard.logIn(token)
    await open('/access?tab=sessions')
    await page.getByRole('table', { name: 'Your sessions' }).waitFor()
    expect(await faultsOf(page)).toEqual([])
    await button('Log out everywhere').click()
    await button('End every session').click()
    await page.getByLabel('Token').waitFor()
    await elsewhere.reload()
    await elsewhere.getByLabel('Token').waitFor()
    expectRefusalsAlone()
  })

  test('a link for another team or name asks first, and says that it is used up', async () => {
    const newLink = async () =>
      `${url}/#code=${(await client.send<{ code: string }>('POST', '/api/session/code')).body.code}`
    const other = await dashboard.logIn(await newToken('night-shift', ['read']))
    const me = async () => other.evaluate(`fetch('./api/me').then((answer) => answer.json())`)
    const name = ((await (await other.request.get(`${url}/api/me`)).json()) as { subject: string }).subject
    expect(name).toBe('night-shift')
    // The dashboard is open already: nothing but what stands behind # changes.
    await other.goto(await newLink())
    const ask = other.getByRole('dialog', { name: 'Log in as somebody else?' })
    await ask.getByText(/This link is for \S+, you are night-shift/).waitFor()
    expect(other.url()).toBe(`${url}/`)
    expect(await faultsOf(other)).toEqual([])
    await ask.getByRole('button', { name: 'Cancel' }).click()
    await ask.waitFor({ state: 'detached' })
    expect(await me()).toMatchObject({ subject: 'night-shift' })

    await other.route('**/api/session/code', (route) =>
      route.fulfill({ json: { kind: 'token', subject: 'ci', team: 'billing' } }),
    )
    const link = await newLink()
    await other.goto(link)
    const move = other.getByRole('dialog', { name: 'Switch to another team?' })
    await move.getByText(/This link is for team billing, you are in default/).waitFor()
    await move.getByRole('button', { name: 'Switch to billing' }).click()
    await move.waitFor({ state: 'detached' })
    await other.getByRole('navigation', { name: 'Screens' }).waitFor()
    await expect.poll(me).not.toMatchObject({ subject: 'night-shift' })
    await other.unrouteAll({ behavior: 'ignoreErrors' })

    await other.goto(link)
    await other.getByText('This link has been used, or is too old.').waitFor()
    expect(dashboard.reported().filter((text) => !text.includes('401'))).toEqual([])
  })

  test('a token of another team is taken where one is', async () => {
    const other = await dashboard.logIn(await newToken('to-leave', ['read']))
    await other.keyboard.press('Control+k')
    await other.getByRole('combobox').fill('switch')
    await other.getByRole('option', { name: 'Another team …' }).click()
    const form = other.getByRole('dialog', { name: 'Another team' })
    await form.getByText('A token belongs to one team.').waitFor()
    expect(await faultsOf(other)).toEqual([])
    await form.getByLabel('Token').fill(await newToken('to-enter', ['read']))
    await form.getByRole('button', { name: 'Log in' }).click()
    await other.locator('.viewer').getByText('to-enter').waitFor()
  })
})
