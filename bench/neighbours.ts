/**
 * What a team's costly requests cost its neighbours. `node bench/neighbours.ts stretches` tells, for each request, the longest
 * time for which an API process does nothing else. `node bench/neighbours.ts pushes [seconds]` tells how long another team's pushes
 * take while 32 connections send one request again and again, with nothing else running before and after. A word as the last
 * argument picks the requests whose names contain it.
 */
import { createSecretKey, randomBytes, hash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { Pool } from 'undici'
import { NO_TERMS } from '../src/domain/access/token-terms.ts'
import { DEFAULT_CRON_SETTINGS } from '../src/domain/crons/cron.ts'
import { connectRedis } from '../src/redis/client/connection.ts'
import { createEngine, type Engine } from '../src/redis/client/engine.ts'
import { createStepRunner } from '../src/redis/client/step-runner.ts'
import { createSettingsCompiler } from '../src/redis/control/settings-compiler.ts'
import { openInstallation } from '../src/redis/installation/installation.ts'
import { SecretBox } from '../src/redis/sealing/secret-box.ts'
import { loadScripts } from '../src/redis/steps.ts'
import { systemClock } from '../src/telemetry/system-clock.ts'
import { freePort } from './harness/ports.ts'
import { startProgram, stopAllPrograms, untilReady } from './harness/processes.ts'
import { type RedisServer, startRedisServer } from './harness/redis-server.ts'
import { sleep } from './harness/waiting.ts'
import { type CostlyRequest, costlyRequests } from './neighbours/costly-requests.ts'
import type { LoadPlan, LoadReport } from './neighbours/load-worker.ts'

const TEAM = 'default'
const [TOKEN, NEIGHBOUR_TOKEN] = ['token-of-the-benchmark', 'token-of-the-neighbour']
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
const folder = mkdtempSync(join(tmpdir(), 'punctual-neighbours-'))
const secret = randomBytes(32)
try {
  await main()
} finally {
  await stopAllPrograms()
  rmSync(folder, { recursive: true, force: true })
}
process.exit()

async function main(): Promise<void> {
  const redis = await startRedisServer(folder)
  const [port, stretchPort] = [await freePort(), await freePort()]
  const probe = join(import.meta.dirname, 'neighbours/stretch-probe-process.ts')
  const program = startProgram({
    name: 'api',
    command: process.execPath,
    args: [
      ...(mode === 'stretches' ? ['--import', probe] : []),
      ...(process.env['PROFILE_DIR'] ? ['--cpu-prof', `--cpu-prof-dir=${process.env['PROFILE_DIR']}`] : []),
      join(import.meta.dirname, '../src/main.ts'),
      'api',
    ],
    folder,
    env: {
      PUNCTUAL_REDIS_URL: redis.url,
      PUNCTUAL_TOKEN: TOKEN,
      PUNCTUAL_SECRETS_KEY: secret.toString('base64'),
      PUNCTUAL_EGRESS_ALLOW: '127.0.0.0/8',
      PUNCTUAL_OPS_PORT: '0',
      PUNCTUAL_PORT: String(port),
      STRETCH_PORT: String(stretchPort),
    },
  })
  const url = `http://127.0.0.1:${port}`
  const isReady = () =>
    fetch(`${url}/api/me`, { headers: bearer(TOKEN) }).then(
      ({ ok }) => ok,
      () => false,
    )
  await untilReady(program, isReady)
  const requests = costlyRequests(await fill(redis, url)).filter(
    ({ name }) => words.length === 0 || words.some((word) => name.includes(word)),
  )
  if (mode === 'stretches') await tellStretches(requests, url, `http://127.0.0.1:${stretchPort}`)
  else await tellPushes(requests, url)
}

function bearer(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
}

async function ask(url: string, { method, path, body }: Omit<CostlyRequest, 'name'>, token = TOKEN) {
  const response = await fetch(url + path, { method, headers: bearer(token), body: body ?? null })
  return { status: response.status, text: await response.text() }
}

/** Data of every kind for the team, and a token for its neighbour. */
async function fill(redis: RedisServer, url: string): Promise<Parameters<typeof costlyRequests>[0]> {
  const engine = await openEngine(redis.url)
  const compiler = createSettingsCompiler({
    engine,
    box: new SecretBox(createSecretKey(secret)),
    epoch: null,
  })
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
    const { text } = await ask(url, {
      method: 'POST',
      path: '/api/jobs/batch',
      body: JSON.stringify({ jobs: Array.from({ length: 1_000 }, () => job) }),
    })
    jobs.push(
      ...(JSON.parse(text) as { results: Array<{ job_id: number }> }).results.map(({ job_id: id }) => id),
    )
  }
  const big = await ask(url, {
    method: 'POST',
    path: '/api/jobs',
    body: JSON.stringify({ ...job, payload: { text: 'é\n'.repeat(250_000) } }),
  })
  const queues = JSON.parse((await ask(url, { method: 'GET', path: '/api/queues' })).text) as {
    queues: Array<{ id: number; name: string }>
  }
  const queue = queues.queues.find(({ name }) => name === 'q')?.id ?? 0
  for (let i = 0; i < TOKENS; i += 1)
    await ask(url, { method: 'POST', path: '/api/tokens', body: JSON.stringify({ name: `t${i}` }) })
  for (let i = 0; i < PAUSES; i += 1)
    await ask(url, {
      method: 'POST',
      path: `/api/queues/${queue}/pause`,
      body: JSON.stringify({ reason: 'x'.repeat(200) }),
    })
  return { queue, cron, job: (JSON.parse(big.text) as { job_id: number }).job_id, jobs: jobs.slice(0, 1_000) }
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
    const sorted = stretches.toSorted((a, b) => a - b)
    const [first] = stretches
    const median = sorted[Math.floor(ROUNDS / 2)] ?? 0
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
      workerData: { url, request, headers: bearer(TOKEN), connections: CONNECTIONS } satisfies LoadPlan,
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
  const sorted = times.toSorted((a, b) => a - b)
  const at = (part: number) => (sorted[Math.ceil(sorted.length * part) - 1] ?? 0).toFixed(1)
  return `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`
}

async function openEngine(url: string): Promise<Engine> {
  const silent = { debug: nothing, info: nothing, warn: nothing, error: nothing, child: () => silent }
  const connection = await connectRedis({ url, commandTimeoutMs: 10_000, name: 'bench', logger: silent })
  const jobIds = await openInstallation(connection, 4)
  const metrics = new Proxy({}, { get: () => nothing }) as Engine['metrics']
  const runner = createStepRunner({ connection, scripts: loadScripts(), clock: systemClock, metrics })
  return createEngine({ runner, jobIds, logger: silent, metrics })
}

function nothing(): void {
  // Neither logs nor counts.
}
