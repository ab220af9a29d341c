/**
 * What alerts and holds cost, on a Redis, a target and one executor of their own. `node bench/alerts.ts throughput` calls
 * failing jobs with channels that hang and without any, in turns; `node bench/alerts.ts delay` measures how soon an alert
 * can be read and a message is out; `node bench/alerts.ts holds` lets jobs wait for a window.
 */
import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { DEFAULT_QUEUE_SETTINGS } from '../src/domain/jobs/queue-settings.ts'
import type { Channel } from '../src/domain/notifications/channel.ts'
import type { AlertFilter } from '../src/ports/alerts.ts'
import { createAlertStore } from '../src/redis/ledger/alerts/alert-store.ts'
import { runMain } from './harness/main-run.ts'
import { SHARDS, type Stand, withStand } from './harness/stand.ts'
import { tell } from './harness/telling.ts'
import { sleep, waitUntil } from './harness/waiting.ts'
import { spreadOf } from './report/statistics.ts'
import { newJob } from '../test/support/engine/engine.ts'
import { rateOf } from './scenarios/life.ts'

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
await runMain(async () => {
  if (what === 'delay') await measureDelay()
  else if (what === 'holds') await measureHolds()
  else await measureThroughput(Number(jobs), Number(pairs))
})

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
      await withStand(async ({ intake, redis, startTarget, start, compiler }) => {
        const target = await startTarget()
        await compiler.putTeam('default', {
          egressAllow: ['127.0.0.0/8'],
          signingSecrets: [],
          ...(kind === 'hanging' ? { channels, members: [{ name: 'Ada', email: 'ada@example.com' }] } : {}),
        })
        await compiler.applyQueue('default', 'bench', alerting())
        await fill(intake, count, (i) => ({
          queue: 'bench',
          url: i % FAILING === 0 ? target.url.replace('/call', '/missing') : target.url,
        }))
        const filled = { cpu: await redis.cpuSeconds(), commands: await redis.commandsProcessed() }
        const { program } = await start('executor', { env })
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
  await withStand(async ({ engine, intake, start, compiler }) => {
    const readable: number[] = []
    const out: number[] = []
    const store = createAlertStore(engine)
    for (let i = 0; i < DELAY_ROUNDS; i += 1) {
      const channel: Channel = { name: 'hook', type: 'webhook', alertTypes: ['failure'], url: `${hook}/${i}` }
      const policy = { egressAllow: ['127.0.0.0/8'], signingSecrets: [], channels: [channel] }
      await compiler.putTeam(`team-${i}`, policy)
      await compiler.applyQueue(`team-${i}`, 'bench', alerting())
    }
    await start('executor')
    // A channel is told of what is raised once an executor knows it.
    await sleep(KNOWN_WITHIN_MS)
    for (let i = 0; i < DELAY_ROUNDS; i += 1) {
      const team = `team-${i}`
      await fill(intake, 1, () => ({ queue: 'bench', url: `${failing}/${i}` }), team)
      const filter: AlertFilter = {
        type: 'failure',
        reason: null,
        resourceKind: null,
        resourceId: null,
        isRead: null,
        afterMs: null,
        beforeMs: null,
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
  const holds = async ({ intake, compiler }: Stand): Promise<void> => {
    const window = { action: 'hold', reason: null } as const
    const times = { kind: 'once', startMs: Date.now() - 1_000, endMs: Date.now() + 3_600_000 } as const
    await compiler.putWindow({ ...window, times, team: 'held', name: 'all', resource: null })
    const resource = { kind: 'queue', name: 'held' } as const
    await compiler.putWindow({ ...window, times, team: 'default', name: 'one', resource })
    const url = 'http://127.0.0.1:9/'
    await fill(intake, HELD_JOBS, (i) => ({ queue: `queue-${i % 500}`, url }), 'held')
    await fill(intake, HELD_JOBS, () => ({ queue: 'held', url }))
  }
  for (const kind of ['without', 'held'] as const) {
    await withStand(async (stand) => {
      if (kind === 'held') await holds(stand)
      await stand.start('executor')
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
        const target = await stand.startTarget()
        await fill(stand.intake, count, () => ({ queue: 'bench', url: target.url }), 'busy')
        await stand.start('executor')
        const rate = rateOf(await target.watch(0, count, DONE_WITHIN_MS))
        rates[kind].push(rate)
        tell(`round ${round}, ${kind}, jobs/s of another team`, rate)
      })
    }
  }
  tell('beside held jobs / without, %', (median(rates.held) / median(rates.without)) * 100)
}

async function fill(
  intake: Stand['intake'],
  count: number,
  jobOf: (index: number) => { readonly queue: string; readonly url: string },
  team = 'default',
): Promise<void> {
  let next = 0
  const push = async (): Promise<void> => {
    while (next < count) {
      const { queue, url } = jobOf(next++)
      const { status } = await intake.push(newJob({ team, queue, request: { url, payload: '{"to":"ada"}' } }))
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
  return spreadOf(values).median
}

function spread(values: readonly number[]): string {
  return `median ${median(values)}, most ${Math.max(...values)}`
}
