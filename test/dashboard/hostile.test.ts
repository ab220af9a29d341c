/** Strings that break pages, in every field that the API and the targets of jobs can fill. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Issue } from '../../clients/typescript/src/client.ts'
import type { ApiClient } from '../support/servers/api-client.ts'
import { createStandaloneWorld } from '../support/servers/standalone-world.ts'
import { until } from '../support/until.ts'
import type { Target } from '../support/targets/target.ts'
import { type Dashboard, faultsOf, openDashboard, show, whyNoBrowser } from './support/browser.ts'
import { addressOf, routesOfScreens } from './support/screens.ts'

const HOSTILE: ReadonlyArray<readonly [kind: string, text: string]> = [
  ['a script', '<script>window.hit = 1</script>'],
  ['a handler', '"><img src=x onerror="window.hit = 1"><svg onload=window.hit=1>'],
  ['an address', 'javascript:window.hit=1//%0Aalert(1)'],
  ['a template', '${window.hit = 1} {{constructor.constructor("window.hit=1")()}} <%= 1 %> #{1}'],
  ['turned round', '\u202Egnp.tpircs\u202C \u2067טקסט\u2069 \u200B\u200D\uFEFF\u00AD'],
  ['marks', 'Z̷̢͉̰a̸̡l̵g̶o̷ ﷽ 👩‍👩‍👧‍👦 \u{1D573}'],
  ['too long', 'x'.repeat(250)],
  ['quotes', `'"\`\\ </textarea></title></style> --> ]]> &lt;b&gt; \u0007\u001B[31m`],
]

/** Lines with a mark that reorders or hides what stands beside it; fields keep what was typed. */
const FIND_HIDING = String.raw`(document.body.innerText + document.title)
  .split('\n')
  .filter((line) => /[\u0000-\u0008\u001B\u200B\u202A-\u202E\u2066-\u2069\uFEFF]/.test(line))
  .join(' | ')`

const world = createStandaloneWorld()
const missing = whyNoBrowser()
let dashboard: Dashboard
let client: ApiClient
let page: Page
const ids: Array<Readonly<Record<string, number | string>>> = []

beforeAll(async () => {
  if (missing !== null) return
  const folder = world.newFolder()
  const target = await world.newTarget()
  const { program, client: ofAdmin } = await world.start(folder)
  client = ofAdmin
  for (const one of HOSTILE) ids.push(await fill(one, target))
  dashboard = await openDashboard(String((await program.logged('Standalone runs'))['url']))
  page = await dashboard.logIn(readFileSync(join(folder, 'token'), 'utf8').trim())
}, 180_000)
afterEach(() => {
  if (missing === null) assert.deepEqual(dashboard.reported(), [])
})
afterAll(async () => {
  if (missing === null) await dashboard.close()
  await world.close()
})

describe.skipIf(missing !== null)(`a browser (${missing ?? 'there is one'})`, () => {
  const [lists, things] = [
    routesOfScreens().filter((route) => !route.includes(':')),
    routesOfScreens().filter((route) => route.includes(':')),
  ]

  test('the lists show all of them as what they are', async () => {
    expect(await troubleAt(lists)).toEqual([])
  })

  test.each(['/queues', '/jobs'])('%s is as clean with them as without', async (route) => {
    await show(page, route)
    expect(await faultsOf(page)).toEqual([])
  })

  test.each(HOSTILE.map(([kind], at) => [kind, at] as const))(
    'the page of a thing shows %s',
    async (_, at) => {
      const addresses = things.map((route) => addressOf(route, ids[at] ?? {}))
      expect(await troubleAt([...addresses, `/send?from=${ids[at]?.['job_id']}`])).toEqual([])
    },
  )

  test.each(HOSTILE)('filters of an address hold %s', async (_, text) => {
    const value = encodeURIComponent(text)
    const addresses = [
      `/jobs?queue=${value}&text=${value}&host=${value}&tag=${value}&status=${value}`,
      `/dead-letters?queue=${value}&host=${value}`,
      `/alerts?type=${value}&reason=${value}&resource_kind=${value}&resource_id=${value}`,
      `/audit?subject=${value}&kind=${value}&action=${value}`,
      `/maintenance?view=${value}&from=${value}`,
    ]
    expect(await troubleAt(addresses)).toEqual([])
  })
})

/** What makes these screens wider than a narrow window, what ran there, and what is not to be seen for what it is. */
async function troubleAt(addresses: readonly string[]): Promise<readonly string[]> {
  const trouble: string[] = []
  await page.setViewportSize({ width: 375, height: 900 })
  for (const address of addresses) {
    await show(page, address)
    const over = Number(await page.evaluate('document.scrollingElement.scrollWidth - innerWidth'))
    if (over > 0) trouble.push(`${address}: ${over} px too wide`)
    if ((await page.evaluate('window.hit')) !== undefined) trouble.push(`${address}: a script ran`)
    const hidden = String(await page.evaluate(FIND_HIDING))
    if (hidden !== '') trouble.push(`${address}: not written out: ${JSON.stringify(hidden)}`)
  }
  await page.setViewportSize({ width: 1280, height: 900 })
  return trouble
}

/** Puts a text wherever one can be put. @returns the ids of what was made */
async function fill([kind, text]: readonly [string, string], target: Target) {
  const path = `/${kind.replaceAll(' ', '-')}`
  // A header has a byte for each character.
  const inHeader = text.replaceAll(/[^\u0020-\u007E]/g, '?')
  target.route(path, () => ({
    status: 500,
    headers: { 'x-hostile': inHeader, 'content-type': 'text/html' },
    body: text,
  }))
  const url = `${target.url}${path}?q=${encodeURIComponent(text)}`
  const job = await client.push({
    queue: text,
    url,
    payload: { [text]: text },
    headers: { 'X-Hostile': inHeader },
    retry_delays: [1],
    tags: { [text.slice(0, 64)]: text.slice(0, 256) },
    callback_url: url,
  })
  await client.ended(job.job_id)
  const body = (method: string, path_: string, given: object) => made(client.send(method, path_, given))
  const cron = await body('POST', '/api/crons', {
    name: text,
    url,
    cron_expression: '0 3 * * *',
    payload: { text },
  })
  await body('POST', `/api/crons/${cron}/run`, {})
  await body('POST', '/api/maintenance-windows', {
    name: path.slice(1),
    reason: text,
    resource: { kind: 'queue', id: job.queue_id },
    recurring: [{ cron_expression: '0 2 * * SUN', duration_seconds: 7_200 }],
  })
  await body('POST', '/api/tokens', {
    name: path.slice(1),
    description: text,
    scopes: ['read'],
    queues: [text],
  })
  const filter = { queue: text, status: 'dead_lettered', text: text.slice(0, 100) }
  const bulk = await body('POST', '/api/bulk', { action: 'replay', filter })
  const { alerts } = (await client.send<{ alerts: ReadonlyArray<{ id: number }> }>('GET', '/api/alerts')).body
  return {
    queue_id: job.queue_id,
    job_id: job.job_id,
    cron_id: cron,
    bulk_id: bulk,
    alert_id: alerts[0]?.id ?? 0,
    issue_id: await issueOf(text),
  }
}

/** The issue of the failures of its queue. */
async function issueOf(queue: string): Promise<string> {
  return until('the queue has an issue', async () => {
    const { body } = await client.send<{ issues: ReadonlyArray<Pick<Issue, 'id' | 'resource'>> }>(
      'GET',
      '/api/issues',
    )
    return body.issues.find(({ resource }) => resource.name === queue)?.id ?? null
  })
}

async function made(
  asked: Promise<{ readonly status: number; readonly body: unknown }>,
): Promise<number | string> {
  const { status, body } = await asked
  if (status >= 300) throw new Error(`the API answered ${status}: ${JSON.stringify(body)}`)
  const { id, token_id: tokenId } = body as { id?: number | string; token_id?: string }
  return id ?? tokenId ?? ''
}
