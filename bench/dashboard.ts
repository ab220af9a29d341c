/**
 * What a person waits for at the dashboard: `make build && node bench/dashboard.ts [jobs] [views] [pages]` opens the
 * overview in Chromium with a cold cache, and pages through a list of finished jobs, with a Redis and an API of its own. A
 * view counts from its navigation, a page from the click, until what was asked for is painted.
 */
import { loadavg } from 'node:os'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { DEFAULT_QUEUE_SETTINGS } from '../src/domain/jobs/queue-settings.ts'
import { sealHistory } from '../src/redis/jobs/history/sealer.ts'
import { launchChromium } from '../test/dashboard/support/chromium.ts'
import { shardOfQueue } from '../src/redis/base/engine/engine.ts'
import { runMain } from './harness/main-run.ts'
import { bearer, type Stand, withStand } from './harness/stand.ts'
import { tell } from './harness/telling.ts'
import { percentile } from './report/statistics.ts'
import { SPAN_MS, writeChains } from './load/finished-chains.ts'

const TEAM = 'default'
const QUEUE = 'bench'
const VIEWPORT = { width: 1280, height: 800 }
/** Sets `paintedMs` when the figures of the overview have been painted, and keeps the longest task. */
const WATCH = `
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) window.longestMs = Math.max(window.longestMs ?? 0, duration)
  }).observe({ entryTypes: ['longtask'] })
  new MutationObserver((_, observer) => {
    if (document.querySelector('.figure-value') === null) return
    observer.disconnect()
    requestAnimationFrame(() => requestAnimationFrame(() => { window.paintedMs = performance.now() }))
  }).observe(document, { childList: true, subtree: true })`
/** Clicks on to the next page of jobs. @returns ms until its last row is painted */
const TURN = `(async () => {
  const last = () => document.querySelector('[data-rows] > tr:last-child')?.dataset.href
  const frame = () => new Promise(requestAnimationFrame)
  const before = last()
  const button = [...document.querySelectorAll('main button')].find(({ textContent }) => /^(Show more|Next) jobs$/.test(textContent.trim()))
  const begunMs = performance.now()
  button.click()
  while (last() === before) await frame()
  await frame()
  return performance.now() - begunMs
})()`

const [jobs = '1000000', views = '20', pages = '60'] = process.argv.slice(2)
await runMain(() => withStand(measure))

async function measure(stand: Stand): Promise<void> {
  await fill(stand)
  const { url } = await stand.startApi()
  const browser = await launchChromium()
  tell('finished jobs', Number(jobs))
  tell('load of the machine', loadavg()[0] ?? 0)
  const visitor = await logIn(browser, url)
  const firstViews: number[] = []
  for (let view = 0; view < Number(views); view += 1) firstViews.push(await timeFirstView(visitor))
  tellTimes('first view with a cold cache', firstViews)
  await timePages(visitor)
  await browser.close()
}

async function fill({ engine, redis, compiler }: Stand): Promise<void> {
  await compiler.applyQueue(TEAM, QUEUE, DEFAULT_QUEUE_SETTINGS)
  const plan = { team: TEAM, queue: QUEUE, count: Number(jobs), startMs: Date.now() - SPAN_MS }
  const localId = await writeChains(engine, redis, plan)
  const keys = shardOfQueue(engine, TEAM, QUEUE)
  let sealed: number | null
  do sealed = await sealHistory(engine, keys, localId)
  while (sealed !== null && sealed > 0)
}

interface Visitor {
  readonly browser: Browser
  readonly url: string
  /** The cookie of the session. */
  readonly session: Awaited<ReturnType<BrowserContext['storageState']>>
}

async function logIn(browser: Browser, url: string): Promise<Visitor> {
  const context = await browser.newContext()
  const answer = await context.request.post(`${url}/api/session`, {
    headers: { ...bearer(), 'x-punctual-request': '1' },
  })
  if (!answer.ok()) throw new Error(`the login was answered with ${answer.status()}`)
  const session = await context.storageState()
  await context.close()
  return { browser, url, session }
}

/** With the session alone: each has a cache of its own. */
async function newPage({ browser, session }: Visitor): Promise<Page> {
  const context = await browser.newContext({ viewport: VIEWPORT, storageState: session })
  await context.addInitScript(WATCH)
  return context.newPage()
}

async function timeFirstView(visitor: Visitor): Promise<number> {
  const page = await newPage(visitor)
  await page.goto(`${visitor.url}/`)
  await page.locator('.figure-value').first().waitFor()
  let paintedMs: unknown = null
  while (typeof paintedMs !== 'number') paintedMs = await page.evaluate('window.paintedMs')
  await page.context().close()
  return paintedMs
}

async function timePages(visitor: Visitor): Promise<void> {
  const page = await newPage(visitor)
  await page.goto(`${visitor.url}/jobs?queue=${QUEUE}&status=completed`)
  await page.locator('[data-rows] > tr').first().waitFor()
  await page.evaluate('window.longestMs = 0')
  const times: number[] = []
  for (let turned = 0; turned < Number(pages); turned += 1) times.push(Number(await page.evaluate(TURN)))
  tellTimes('the next 100 of all jobs, from the click', times)
  tell('the longest task of the page meanwhile, ms', Number(await page.evaluate('window.longestMs')))
}

function tellTimes(name: string, times: readonly number[]): void {
  const at = (share: number) => Math.round(percentile(times, share))
  tell(`${name}, ms`, `median ${at(0.5)}, 95th of 100 ${at(0.95)}, longest ${at(1)}`)
}
