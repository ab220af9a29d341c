/**
 * What alerts and holds cost, on a Redis, a target and one executor of their own. `node bench/alerts.ts throughput` calls
 * failing jobs with channels that hang and without any, in turns; `node bench/alerts.ts delay` measures how soon an alert
 * can be read and a message is out; `node bench/alerts.ts holds` lets jobs wait for a window.
 */
import { createSecretKey, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DEFAULT_QUEUE_SETTINGS } from '../src/domain/jobs/queue-settings.ts'
import type { Channel } from '../src/domain/notifications/channel.ts'
import { createAlertStore } from '../src/redis/alerts/alert-store.ts'
import { connectRedis } from '../src/redis/client/connection.ts'
import { createEngine, type Engine } from '../src/redis/client/engine.ts'
import { createStepRunner } from '../src/redis/client/step-runner.ts'
import { SecretBox } from '../src/redis/sealing/secret-box.ts'
import { createSettingsCompiler } from '../src/redis/control/settings-compiler.ts'
import { createJobIntake } from '../src/redis/enqueue/job-intake.ts'
import { openInstallation } from '../src/redis/installation/installation.ts'
import { loadScripts } from '../src/redis/steps.ts'
import { systemClock } from '../src/telemetry/system-clock.ts'
import { startTarget, type Target } from './harness/nginx-target.ts'
import { startProgram, type Program } from './harness/processes.ts'
import { startRedisServer, type RedisServer } from './harness/redis-server.ts'
import { requirePrograms } from './harness/requirements.ts'
import { sleep, waitUntil } from './harness/waiting.ts'
import { rateOf } from './scenarios/life.ts'

const MAIN = join(import.meta.dirname, '../src/main.ts')
const SHARDS = 4
const PUSHED_AT_ONCE = 512
/** One of so many jobs fails. */
const FAILING = 10
const SLOW_SLACK_MS = 30_000
const DONE_WITHIN_MS = 300_000
const DELAY_ROUNDS = 10
const KNOWN_WITHIN_MS = 5_000
const HELD_JOBS = 5_000
const COUNTED_SECONDS = 10

const [what = 'throughput', jobs = '30000', pairs = '4'] = process.argv.slice(2)
requirePrograms((text) => console.error(text))
const folder = mkdtempSync(join(tmpdir(), 'punctual-alerts-'))
const key = randomBytes(32)
try {
  if (what === 'delay') await measureDelay()
  else if (what === 'holds') await measureHolds()
  else await measureThroughput(Number(jobs), Number(pairs))
} finally {
  rmSync(folder, { recursive: true, force: true })
}
process.exit()

/** Both kinds of run raise the same alerts; only the channels differ. */
async function measureThroughput(count: number, rounds: number): Promise<void> {
  const mail = await listen(createServer((socket) => socket.on('error', () => undefined)))
  let slackCalls = 0
  const slack = await listen(
    createHttpServer((_, answer) => {
      slackCalls += 1
      setTimeout(() => answer.end('ok'), SLOW_SLACK_MS)
    }),
  )
  const channels: Channel[] = [
    { name: 'mail', type: 'email', alertTypes: ['failure'], url: null },
    { name: 'chat', type: 'slack', alertTypes: ['failure'], url: `${slack}/services/T/B/x` },
  ]
  const env = { PUNCTUAL_SMTP_URL: mail.replace('http', 'smtp'), PUNCTUAL_SMTP_FROM: 'bench@example.com' }
  const byKind = (): Record<'without' | 'hanging', number[]> => ({ without: [], hanging: [] })
  const [rates, cpu, redisCpu, commands] = [byKind(), byKind(), byKind(), byKind()]
  for (let round = 1; round <= rounds; round += 1) {
    // Each comes first in half of the rounds.
    for (const kind of round % 2 === 1
      ? (['without', 'hanging'] as const)
      : (['hanging', 'without'] as const)) {
      await withStand(async ({ engine, redis, target, start, compiler }) => {
        await compiler.putTeam('default', {
          ...{ egressAllow: ['127.0.0.0/8'], signingSecrets: [] },
          ...(kind === 'hanging' ? { channels, members: [{ name: 'Ada', email: 'ada@example.com' }] } : {}),
        })
        await compiler.applyQueue('default', 'bench', alerting())
        await fill(engine, count, (i) => ({
          queue: 'bench',
          url: i % FAILING === 0 ? target.url.replace('/call', '/missing') : target.url,
        }))
        const filled = { cpu: await redis.cpuSeconds(), commands: await redis.commandsProcessed() }
        const program = start(env)
        const rate = rateOf(await target.watch(0, count, DONE_WITHIN_MS))
        rates[kind].push(rate)
        cpu[kind].push((program.cpuSeconds() * 1e6) / count)
        redisCpu[kind].push((((await redis.cpuSeconds()) - filled.cpu) * 1e6) / count)
        commands[kind].push(((await redis.commandsProcessed()) - filled.commands) / count)
        tell(`round ${round}, channels ${kind}, jobs/s`, rate)
      })
    }
  }
  const [without, hanging] = [median(rates.without), median(rates.hanging)]
  tell('median without channels, jobs/s', without)
  tell('median with channels that hang, jobs/s', hanging)
  tell('hanging / without, %', (hanging / without) * 100)
  // On a busy machine these tell more than the rate.
  const both = ({ without: former, hanging: latter }: typeof rates) =>
    `${median(former).toFixed(2)} ${median(latter).toFixed(2)}`
  tell('executor CPU a job without and with them, µs', both(cpu))
  tell('Redis CPU a job without and with them, µs', both(redisCpu))
  tell('commands a job without and with them', both(commands))
  tell('calls of the slow chat', slackCalls)
}

/** A team for each round, because a channel that was just told waits before it tells again. */
async function measureDelay(): Promise<void> {
  const told = new Map<string, number>()
  const ended = new Map<string, number>()
  const hook = await listen(
    createHttpServer((request, answer) => {
      told.set(String(request.url), Date.now())
      answer.end()
    }),
  )
  const failing = await listen(
    createHttpServer((request, answer) => {
      answer.statusCode = 500
      answer.end()
      ended.set(String(request.url), Date.now())
    }),
  )
  await withStand(async ({ engine, start, compiler }) => {
    const readable: number[] = []
    const out: number[] = []
    const store = createAlertStore(engine)
    for (let i = 0; i < DELAY_ROUNDS; i += 1) {
      const channel: Channel = { name: 'hook', type: 'webhook', alertTypes: ['failure'], url: `${hook}/${i}` }
      const policy = { egressAllow: ['127.0.0.0/8'], signingSecrets: [], channels: [channel] }
      await compiler.putTeam(`team-${i}`, policy)
      await compiler.applyQueue(`team-${i}`, 'bench', alerting())
    }
    start({})
    // A channel is told of what is raised once an executor knows it.
    await sleep(KNOWN_WITHIN_MS)
    for (let i = 0; i < DELAY_ROUNDS; i += 1) {
      const team = `team-${i}`
      await fill(engine, 1, () => ({ queue: 'bench', url: `${failing}/${i}` }), team)
      const filter = {
        ...({ type: 'failure', reason: null, resourceKind: null, resourceId: null } as const),
        ...{ isRead: null, afterMs: null, beforeMs: null },
      }
      const isReadable = async () => {
        const page = await store.list({ team, filter, limit: 1, cursor: null })
        return typeof page === 'object' && page.alerts.length > 0
      }
      await waitUntil('the alert is readable', isReadable, { withinMs: 30_000, everyMs: 5 })
      readable.push(Date.now() - (ended.get(`/${i}`) ?? 0))
      await waitUntil('the message is out', async () => told.has(`/${i}`), { withinMs: 30_000, everyMs: 5 })
      out.push((told.get(`/${i}`) ?? 0) - (ended.get(`/${i}`) ?? 0))
    }
    tell('alert readable after the answer, ms', spread(readable))
    tell('message out after the answer, ms', spread(out))
  })
}

/** What jobs that wait for a window cost while nothing else happens, and what they cost others. */
async function measureHolds(): Promise<void> {
  const holds = async ({ engine, compiler }: Stand): Promise<void> => {
    const window = { action: 'hold', reason: null } as const
    const times = { kind: 'once', startMs: Date.now() - 1_000, endMs: Date.now() + 3_600_000 } as const
    await compiler.putWindow({ ...window, times, team: 'held', name: 'all', resource: null })
    const resource = { kind: 'queue', name: 'held' } as const
    await compiler.putWindow({ ...window, times, team: 'default', name: 'one', resource })
    const url = 'http://127.0.0.1:9/'
    await fill(engine, HELD_JOBS, (i) => ({ queue: `queue-${i % 500}`, url }), 'held')
    await fill(engine, HELD_JOBS, () => ({ queue: 'held', url }))
  }
  for (const kind of ['without', 'held'] as const) {
    await withStand(async (stand) => {
      if (kind === 'held') await holds(stand)
      stand.start({})
      await sleep(3_000)
      const before = await stand.redis.commandsProcessed()
      await sleep(COUNTED_SECONDS * 1000)
      const commands = (await stand.redis.commandsProcessed()) - before
      tell(`at rest, ${kind}, commands/s in ${SHARDS} shards`, commands / COUNTED_SECONDS)
    })
  }
  const rates: Record<'without' | 'held', number[]> = { without: [], held: [] }
  for (let round = 1; round <= Number(pairs); round += 1) {
    for (const kind of round % 2 === 1 ? (['without', 'held'] as const) : (['held', 'without'] as const)) {
      await withStand(async (stand) => {
        if (kind === 'held') await holds(stand)
        const count = Number(jobs)
        await fill(stand.engine, count, () => ({ queue: 'bench', url: stand.target.url }), 'busy')
        stand.start({})
        const rate = rateOf(await stand.target.watch(0, count, DONE_WITHIN_MS))
        rates[kind].push(rate)
        tell(`round ${round}, ${kind}, jobs/s of another team`, rate)
      })
    }
  }
  tell('beside held jobs / without, %', (median(rates.held) / median(rates.without)) * 100)
}

interface Stand {
  readonly engine: Engine
  readonly redis: RedisServer
  readonly target: Target
  readonly compiler: ReturnType<typeof createSettingsCompiler>
  start(env: Readonly<Record<string, string>>): Program
}

async function withStand(use: (stand: Stand) => Promise<void>): Promise<void> {
  const redis = await startRedisServer(folder)
  const target = await startTarget(folder)
  const { engine, close } = await openEngine(redis.url)
  const compiler = createSettingsCompiler({ engine, box: new SecretBox(createSecretKey(key)), epoch: null })
  let program: Program | null = null
  const start = (env: Readonly<Record<string, string>>): Program =>
    (program = startProgram({
      name: 'executor',
      command: process.execPath,
      args: [MAIN, 'executor'],
      folder,
      env: {
        PUNCTUAL_REDIS_URL: redis.url,
        PUNCTUAL_SECRETS_KEY: key.toString('base64'),
        PUNCTUAL_EGRESS_ALLOW: '127.0.0.0/8',
        PUNCTUAL_OPS_PORT: '0',
        ...env,
      },
    }))
  try {
    await use({ engine, redis, target, compiler, start })
  } finally {
    await (program as Program | null)?.stop()
    close()
    await target.stop()
    await redis.stop()
  }
}

async function openEngine(url: string): Promise<{ engine: Engine; close(): void }> {
  const silent = { debug: nothing, info: nothing, warn: nothing, error: nothing, child: () => silent }
  const connection = await connectRedis({ url, commandTimeoutMs: 10_000, name: 'bench', logger: silent })
  const jobIds = await openInstallation(connection, SHARDS)
  const metrics = new Proxy({}, { get: () => nothing }) as Engine['metrics']
  const runner = createStepRunner({ connection, scripts: loadScripts(), clock: systemClock, metrics })
  const engine = createEngine({ runner, jobIds, logger: silent, metrics })
  return { engine, close: () => connection.disconnect() }
}

async function fill(
  engine: Engine,
  count: number,
  jobOf: (index: number) => { readonly queue: string; readonly url: string },
  team = 'default',
): Promise<void> {
  const intake = createJobIntake(engine, { nowMs: () => performance.now() })
  let next = 0
  const push = async (): Promise<void> => {
    while (next < count) {
      const { queue, url } = jobOf(next++)
      const { status } = await intake.push({
        ...{ team, queue, start: { delaySeconds: 0 }, idempotency: null },
        request: {
          ...({ url, method: 'POST', headers: {}, payload: '{"to":"ada"}', callbackUrl: null } as const),
          ...{
            callbackEvents: null,
            tags: {},
            timeoutSeconds: null,
            retryDelays: null,
            retriesEnabled: null,
          },
          ...{ successAssertions: null, cron: null },
        },
      })
      if (status !== 'created') throw new Error(`a push was answered with ${status}`)
    }
  }
  await Promise.all(Array.from({ length: Math.min(count, PUSHED_AT_ONCE) }, push))
}

function alerting() {
  return { ...DEFAULT_QUEUE_SETTINGS, alertsEnabled: true, retriesEnabled: false }
}

async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  return ((sorted[Math.ceil(middle) - 1] ?? 0) + (sorted[Math.floor(middle)] ?? 0)) / 2
}

function spread(values: readonly number[]): string {
  return `median ${median(values)}, most ${Math.max(...values)}`
}

function nothing(): void {
  // Neither logs nor counts.
}

function tell(name: string, value: number | string): void {
  process.stdout.write(`${name}: ${typeof value === 'number' ? Math.round(value * 100) / 100 : value}\n`)
}
