/**
 * What dead channels cost the jobs, on a Redis, a target and one executor of their own: `node bench/notifications.ts 20000
 * 6` works off so many jobs in each of so many pairs of rounds. In the one round of a pair the teams have no channels, in
 * the other each has a mail server that never answers and a Slack that takes 30 s. One job in a hundred fails in both, so
 * that every team always has something to tell.
 */
import { createSecretKey, randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer as createHttpServer, type Server as HttpServer } from 'node:http'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DEFAULT_QUEUE_SETTINGS } from '../src/domain/jobs/queue-settings.ts'
import type { NewJob } from '../src/ports/jobs.ts'
import type { SettingsCompiler, TeamPolicy } from '../src/ports/settings.ts'
import { connectRedis } from '../src/redis/client/connection.ts'
import { createEngine, type Engine } from '../src/redis/client/engine.ts'
import { createLeaderEpochs } from '../src/redis/control/leader-epochs.ts'
import { SecretBox } from '../src/redis/control/secret-box.ts'
import { createJobIntake } from '../src/redis/enqueue/job-intake.ts'
import { openInstallation } from '../src/redis/installation/installation.ts'
import { loadScripts } from '../src/redis/steps.ts'
import { createStepRunner } from '../src/redis/client/step-runner.ts'
import { systemClock } from '../src/telemetry/system-clock.ts'
import { startTarget } from './harness/nginx-target.ts'
import { startProgram } from './harness/processes.ts'
import { startRedisServer } from './harness/redis-server.ts'
import { requirePrograms } from './harness/requirements.ts'
import { sleep, waitUntil } from './harness/waiting.ts'
import { percentile } from './report/statistics.ts'

const MAIN = join(import.meta.dirname, '../src/main.ts')
const SHARDS = 4
const TEAMS = 50
const FAILING_ONE_IN = 100
const SLACK_ANSWERS_AFTER_MS = 30_000
const PUSHED_AT_ONCE = 512
/** The settings are read, the new channels begin to be told, and the last round is over. */
const SETTLE_MS = 6_000
const DONE_WITHIN_MS = 180_000

const [count = '20000', pairs = '6'] = process.argv.slice(2)
requirePrograms((text) => console.error(text))
const folder = mkdtempSync(join(tmpdir(), 'punctual-notifications-'))
const key = randomBytes(32)
const redis = await startRedisServer(folder)
const target = await startTarget(folder)
let failed = 0
/** Requests to Slack and connections to the mail server. */
let tries = 0
const failing = await listening(
  createHttpServer((_, response) => {
    failed += 1
    response.writeHead(500).end()
  }),
)
const slack = await listening(
  createHttpServer((_, response) => {
    tries += 1
    setTimeout(() => response.end('ok'), SLACK_ANSWERS_AFTER_MS)
  }),
)
const mail = await listening(createServer(() => (tries += 1)))
const engine = await openEngine(redis.url)
const executor = startProgram({
  name: 'executor',
  command: process.execPath,
  args: [MAIN, 'executor'],
  folder,
  env: {
    PUNCTUAL_REDIS_URL: redis.url,
    PUNCTUAL_SECRETS_KEY: key.toString('base64'),
    PUNCTUAL_EGRESS_ALLOW: '127.0.0.0/8',
    PUNCTUAL_OPS_PORT: '0',
    PUNCTUAL_SMTP_URL: `smtp://127.0.0.1:${portOf(mail)}`,
    PUNCTUAL_SMTP_FROM: 'punctual@example.com',
  },
})
try {
  const { compiler } = await createLeaderEpochs(engine, new SecretBox(createSecretKey(key))).begin()
  await makeQueues(compiler)
  const rates: Record<'without' | 'dead', number[]> = { without: [], dead: [] }
  for (let round = 0; round < Number(pairs) * 2; round += 1) {
    const what = round % 2 === 0 ? 'without' : 'dead'
    await putTeams(compiler, what === 'dead')
    await sleep(SETTLE_MS)
    const rate = await workOff(Number(count))
    rates[what].push(rate)
    process.stdout.write(`${what}: ${Math.round(rate)} jobs/s, ${tries} tries to tell so far\n`)
  }
  const [without, dead] = [percentile(rates.without, 0.5), percentile(rates.dead, 0.5)]
  process.stdout.write(
    `median without ${Math.round(without)}, dead ${Math.round(dead)}: ${((dead / without - 1) * 100).toFixed(1)} %\n`,
  )
} finally {
  await executor.stop()
  await redis.stop()
  await target.stop()
  rmSync(folder, { recursive: true, force: true })
}
process.exit()

async function makeQueues(compiler: SettingsCompiler): Promise<void> {
  for (let i = 0; i < TEAMS; i += 1) {
    await compiler.applyQueue(`team-${i}`, 'emails', {
      ...DEFAULT_QUEUE_SETTINGS,
      alertsEnabled: true,
      retriesEnabled: false,
    })
  }
}

async function putTeams(compiler: SettingsCompiler, hasChannels: boolean): Promise<void> {
  const alertTypes = ['warning', 'failure'] as const
  const channels: TeamPolicy['channels'] = [
    { name: 'mail', type: 'email', alertTypes, url: null },
    {
      ...{ name: 'chat', type: 'slack', alertTypes },
      url: `http://127.0.0.1:${portOf(slack)}/services/a/b/c`,
    },
  ]
  for (let i = 0; i < TEAMS; i += 1) {
    await compiler.putTeam(`team-${i}`, {
      egressAllow: ['127.0.0.0/8'],
      signingSecrets: [],
      members: [{ name: 'Ada', email: 'ada@example.com' }],
      channels: hasChannels ? channels : [],
    })
  }
}

/** Jobs a second. */
async function workOff(jobs: number): Promise<number> {
  const from = (await target.count()) + failed
  const startedMs = performance.now()
  const intake = createJobIntake(engine, { nowMs: () => systemClock.monotonicMs() })
  for (let pushed = 0; pushed < jobs; pushed += PUSHED_AT_ONCE) {
    const batch = Array.from({ length: Math.min(PUSHED_AT_ONCE, jobs - pushed) }, (_, i) => pushed + i)
    await Promise.all(batch.map((nth) => intake.push(newJob(nth))))
  }
  await waitUntil('all calls have been made', async () => (await target.count()) + failed >= from + jobs, {
    withinMs: DONE_WITHIN_MS,
    everyMs: 20,
  })
  return jobs / ((performance.now() - startedMs) / 1_000)
}

/** One in a hundred fails, of every team in turn. */
function newJob(nth: number): NewJob {
  const isFailing = nth % FAILING_ONE_IN === 0
  const team = `team-${Math.floor(nth / FAILING_ONE_IN) % TEAMS}`
  return {
    team,
    queue: 'emails',
    start: { delaySeconds: 0 },
    idempotency: null,
    request: {
      url: isFailing ? `http://127.0.0.1:${portOf(failing)}/` : target.url,
      ...{ method: 'POST', headers: {}, payload: null, callbackUrl: null, callbackEvents: null, tags: {} },
      ...{ timeoutSeconds: null, retryDelays: null, retriesEnabled: null, successAssertions: null },
      cron: null,
    },
  }
}

async function listening<S extends Server | HttpServer>(server: S): Promise<S> {
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  return server
}

function portOf(server: Server | HttpServer): number {
  return (server.address() as AddressInfo).port
}

async function openEngine(url: string): Promise<Engine> {
  const silent = { debug: nothing, info: nothing, warn: nothing, error: nothing, child: () => silent }
  const connection = await connectRedis({ url, commandTimeoutMs: 10_000, name: 'bench', logger: silent })
  const jobIds = await openInstallation(connection, SHARDS)
  const metrics = new Proxy({}, { get: () => nothing }) as Engine['metrics']
  const runner = createStepRunner({ connection, scripts: loadScripts(), clock: systemClock, metrics })
  return createEngine({ runner, jobIds, logger: silent, metrics })
}

function nothing(): void {
  // Neither logs nor counts.
}
