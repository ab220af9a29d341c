/**
 * What a team's costly requests cost its neighbours. `node bench/neighbours.ts stretches` tells, for each request, the longest
 * time for which an API process does nothing else. `node bench/neighbours.ts pushes [seconds]` tells how long another team's pushes
 * take while 32 connections send one request again and again, with nothing else running before and after. A word as the last
 * argument picks the requests whose names contain it.
 */
import { hash } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { Pool } from 'undici'
import { NO_TERMS } from '../src/domain/access/token-terms.ts'
import { DEFAULT_CRON_SETTINGS } from '../src/domain/crons/cron.ts'
import { freePort } from './harness/ports.ts'
import { runMain } from './harness/main-run.ts'
import { bearer, type Stand, withStand } from './harness/stand.ts'
import { sleep } from './harness/waiting.ts'
import { percentile, spreadOf } from './report/statistics.ts'
import { type CostlyRequest, costlyRequests } from './neighbours/costly-requests.ts'
import type { LoadPlan, LoadReport } from './neighbours/load-worker.ts'

const TEAM = 'default'
const NEIGHBOUR_TOKEN = 'token-of-the-neighbour'
const WINDOWS = 99
const CRONS = 500
const JOBS = 2_000
const TOKENS = 200
const PAUSES = 500
const CONNECTIONS = 32
/** Of the neighbour. */
const PUSHES_PER_SECOND = 50
const ROUNDS = 6
/** Until all connections are busy. */
const SETTLE_MS = 500
const LOAD = join(import.meta.dirname, 'neighbours/load-worker.ts')

const [mode = 'stretches', ...rest] = process.argv.slice(2)
const seconds = Number(rest.find((text) => /^\d+$/.test(text)) ?? 10)
const words = rest.filter((text) => !/^\d+$/.test(text))
await runMain(() => withStand(main))

async function main(stand: Stand): Promise<void> {
  const stretchPort = await freePort()
  const probe = join(import.meta.dirname, 'neighbours/stretch-probe-process.ts')
  const nodeArgs = mode === 'stretches' ? ['--import', probe] : []
  const { url } = await stand.startApi(nodeArgs, { STRETCH_PORT: String(stretchPort) })
  const requests = costlyRequests(await fill(stand, url)).filter(
    ({ name }) => words.length === 0 || words.some((word) => name.includes(word)),
  )
  if (mode === 'stretches') await tellStretches(requests, url, `http://127.0.0.1:${stretchPort}`)
  else await tellPushes(requests, url)
}

async function ask(url: string, { method, path, body }: Omit<CostlyRequest, 'name'>) {
  const response = await fetch(url + path, { method, headers: bearer(), body: body ?? null })
  return { status: response.status, text: await response.text() }
}

/** What is filled in must be taken, or something else is measured. */
async function make(url: string, request: Parameters<typeof ask>[1]): Promise<string> {
  const { status, text } = await ask(url, request)
  if (status >= 300) throw new Error(`${request.method} ${request.path} was answered with ${status}: ${text}`)
  return text
}

/** Data of every kind for the team, and a token for its neighbour. */
async function fill({ compiler }: Stand, url: string): Promise<Parameters<typeof costlyRequests>[0]> {
  await compiler.putToken({
    team: 'neighbour',
    name: 'ci',
    sha256Hex: hash('sha256', NEIGHBOUR_TOKEN, 'hex'),
    terms: NO_TERMS,
  })
  const schedules = Array.from({ length: 10 }, () => ({
    cronExpression: '0 0 29 2 *',
    timeZone: 'America/St_Johns',
    durationSeconds: 3_600,
  }))
  for (let i = 0; i < WINDOWS; i += 1) {
    await compiler.putWindow({
      team: TEAM,
      name: `w${i}`,
      action: 'mute',
      resource: null,
      times: { kind: 'recurring', schedules },
      reason: 'x'.repeat(1_000),
    })
  }
  let cron = 0
  for (let i = 0; i < CRONS; i += 1) {
    const end = await compiler.applyCron(TEAM, `c${i}`, {
      ...DEFAULT_CRON_SETTINGS,
      displayName: `c${i}`,
      url: 'http://127.0.0.1:9/',
      cronExpression: '0 0 29 2 *',
      timeZone: 'America/St_Johns',
      payload: JSON.stringify({ a: 'x'.repeat(10_000) }),
      isActive: false,
    })
    if ('cronId' in end) cron = end.cronId
  }
  const job = {
    queue: 'q',
    url: 'http://127.0.0.1:9/',
    delay: 86_400,
    payload: { text: 'x'.repeat(1_000) },
    headers: { 'X-A': 'b'.repeat(1_000) },
    tags: { a: 'b' },
  }
  const jobs: number[] = []
  for (let i = 0; i < JOBS; i += 1_000) {
    const text = await make(url, {
      method: 'POST',
      path: '/api/jobs/batch',
      body: JSON.stringify({ jobs: Array.from({ length: 1_000 }, () => job) }),
    })
    jobs.push(
      ...(JSON.parse(text) as { results: Array<{ job_id: number }> }).results.map(({ job_id: id }) => id),
    )
  }
  const big = await make(url, {
    method: 'POST',
    path: '/api/jobs',
    body: JSON.stringify({ ...job, payload: { text: 'é\n'.repeat(250_000) } }),
  })
  const queues = JSON.parse(await make(url, { method: 'GET', path: '/api/queues' })) as {
    queues: Array<{ queue_id: number; name: string }>
  }
  const queue = queues.queues.find(({ name }) => name === 'q')?.queue_id ?? 0
  for (let i = 0; i < TOKENS; i += 1)
    await make(url, { method: 'POST', path: '/api/tokens', body: JSON.stringify({ name: `t${i}` }) })
  for (let i = 0; i < PAUSES; i += 1)
    await make(url, {
      method: 'POST',
      path: `/api/queues/${queue}/pause`,
      body: JSON.stringify({ reason: 'x'.repeat(200) }),
    })
  return { queue, cron, job: (JSON.parse(big) as { job_id: number }).job_id, jobs: jobs.slice(0, 1_000) }
}

async function tellStretches(requests: readonly CostlyRequest[], url: string, probe: string): Promise<void> {
  const longest = async () => Number(await (await fetch(probe)).text())
  for (const request of requests) {
    const stretches: number[] = []
    let status = 0
    for (let i = 0; i < ROUNDS; i += 1) {
      await sleep(50)
      await longest()
      ;({ status } = await ask(url, request))
      stretches.push(await longest())
    }
    const [first] = stretches
    const { median } = spreadOf(stretches)
    process.stdout.write(
      `${median.toFixed(1).padStart(7)} ms, first ${(first ?? 0).toFixed(1)}: ${request.name} (${status})\n`,
    )
  }
}

async function tellPushes(requests: readonly CostlyRequest[], url: string): Promise<void> {
  const idle = await timePushes(url)
  process.stdout.write(`nothing else: ${idle}\n`)
  for (const request of requests) {
    const load = new Worker(LOAD, {
      workerData: { url, request, headers: bearer(), connections: CONNECTIONS } satisfies LoadPlan,
    })
    await sleep(SETTLE_MS)
    const times = await timePushes(url)
    const over = once(load, 'message')
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    load.postMessage('end')
    const [statuses] = (await over) as [LoadReport]
    process.stdout.write(`${request.name}: ${times}; answers ${JSON.stringify(statuses)}\n`)
  }
  process.stdout.write(`nothing else, again: ${await timePushes(url)}\n`)
}

/** At an even pace, whatever becomes of those before. */
async function timePushes(url: string): Promise<string> {
  const pool = new Pool(url, { connections: 16, pipelining: 1 })
  const body = JSON.stringify({ queue: 'n', url: 'http://127.0.0.1:9/', payload: { a: 1 } })
  const times: number[] = []
  const pushes: Array<Promise<void>> = []
  for (let i = 0; i < seconds * PUSHES_PER_SECOND; i += 1) {
    const startedAt = performance.now()
    const push = async () => {
      const answer = await pool.request({
        path: '/api/jobs',
        method: 'POST',
        headers: bearer(NEIGHBOUR_TOKEN),
        body,
      })
      await answer.body.dump()
      if (answer.statusCode !== 201) throw new Error(`a push was answered with ${answer.statusCode}`)
      times.push(performance.now() - startedAt)
    }
    pushes.push(push())
    await sleep(1_000 / PUSHES_PER_SECOND)
  }
  await Promise.all(pushes)
  await pool.close()
  const at = (part: number) => percentile(times, part).toFixed(1)
  return `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`
}
