/**
 * What it costs to keep accepted jobs: `node bench/durability.ts [seconds] [rounds]` pushes with each durability in turn, by
 * one client and by 128, on a Redis with two replicas on this machine, and tells pushes a second and latencies. A real
 * network adds its round trip to each push that replicas confirm, and a real disk its flush.
 */
import { runMain } from './harness/main-run.ts'
import { startRedisServer } from './harness/redis-server.ts'
import { type Stand, withStand } from './harness/stand.ts'
import { waitUntil } from './harness/waiting.ts'
import { delayedPush, pushSame } from './load/push-same.ts'
import { spreadOf } from './report/statistics.ts'

const DURABILITIES = ['relaxed', 'fsync', 'replicated'] as const
type Durability = (typeof DURABILITIES)[number]

const REPLICAS = 2
const CONNECTIONS = 128
const WARM_SECONDS = 2
const BODY = delayedPush('durability')

interface Figures {
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
  /** Of one client, which pushes again as soon as it is answered. */
  readonly alonePerSecond: number
  readonly aloneP50: number
}

const [seconds = '10', rounds = '3'] = process.argv.slice(2)
await runMain(async () => {
  const figures: Record<Durability, Figures[]> = { relaxed: [], fsync: [], replicated: [] }
  for (let round = 0; round < Number(rounds); round += 1) {
    for (const durability of DURABILITIES) figures[durability].push(await measure(durability))
  }
  console.log('| durability | pushes a second | p50 | p99 | one client, a second | p50 |')
  console.log('| --- | --- | --- | --- | --- | --- |')
  for (const durability of DURABILITIES) console.log(rowOf(durability, figures[durability]))
})

async function measure(durability: Durability): Promise<Figures> {
  const flush = ['--appendfsync', durability === 'fsync' ? 'always' : 'everysec']
  const all: Figures[] = []
  await withStand(
    async (stand) => {
      const replicas = await startReplicas(stand, flush)
      const api = await stand.startApi([], { PUNCTUAL_REDIS_DURABILITY: durability })
      const load = (connections: number, long: number) =>
        pushSame(api, { perSecond: null, connections, seconds: long, body: BODY })
      await load(CONNECTIONS, WARM_SECONDS)
      const many = await load(CONNECTIONS, Number(seconds))
      const alone = await load(1, Number(seconds))
      all.push({
        perSecond: many.accepted.count / many.seconds,
        p50: many.accepted.p50,
        p99: many.accepted.p99,
        alonePerSecond: alone.accepted.count / alone.seconds,
        aloneP50: alone.accepted.p50,
      })
      for (const replica of replicas) await replica.stop()
    },
    { redisSettings: flush },
  )
  const [figures] = all
  if (figures === undefined) throw new Error('nothing was measured')
  return figures
}

async function startReplicas({ redis, folder }: Stand, flush: readonly string[]) {
  const primary = ['--replicaof', '127.0.0.1', String(redis.port)]
  const replicas = []
  for (let i = 0; i < REPLICAS; i += 1) replicas.push(await startRedisServer(folder, [...flush, ...primary]))
  const inStep = async () => (await redis.client.info('replication')).split('state=online').length - 1
  await waitUntil('the replicas are in step', async () => (await inStep()) === REPLICAS, { withinMs: 10_000 })
  return replicas
}

function rowOf(durability: Durability, runs: readonly Figures[]): string {
  const median = (of: (run: Figures) => number): number =>
    Math.round(spreadOf(runs.map(of)).median * 100) / 100
  const cells = [
    Math.round(median(({ perSecond }) => perSecond)),
    `${median(({ p50 }) => p50)} ms`,
    `${median(({ p99 }) => p99)} ms`,
    Math.round(median(({ alonePerSecond }) => alonePerSecond)),
    `${median(({ aloneP50 }) => aloneP50)} ms`,
  ]
  return `| ${durability} | ${cells.join(' | ')} |`
}
