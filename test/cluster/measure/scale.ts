/**
 * What the controller costs with many queues, run by hand: `npm run measure:controller`, or with other numbers
 * `node test/cluster/measure/scale.ts <queues> <minutes at rest>` after a build. A real etcd, kube-apiserver and Redis, and
 * the compiled controller as in a pod, all on this machine. Linux only: memory and connections are read from /proc.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Redis } from 'ioredis'
import { Agent, request } from 'undici'
import { createQueueStore } from '../../../src/redis/jobs/queues/queue-store.ts'
import { startControlPlane } from '../../support/cluster/control-plane.ts'
import { openEngine, type TestEngine } from '../../support/engine/engine.ts'
import { applyDefinitions, newNamespace, openKubernetesApi } from '../../support/cluster/kubernetes-api.ts'
import type { ClusterAccess, KubernetesApi } from '../../support/cluster/kubernetes-api.ts'
import { startRedis } from '../../support/servers/redis-server.ts'
import { until } from '../../support/until.ts'
import { startMeasured, sumOf, type MeasuredController } from './measured-controller.ts'

const ROOT = join(import.meta.dirname, '../../..')
const QUEUES = Number(process.argv[2] ?? 10_000)
const REST_MINUTES = Number(process.argv[3] ?? 10)
const NAMESPACES = 10
const MAKERS = 8
/** Beyond what must be reached, so that what fails is told with its number. */
const PHASE_TIMEOUT_MS = 600_000
const EDIT_EVERY_MS = 1_000
const LOOK_EVERY_MS = 250
/** Counts and their last statuses. */
const SETTLE_MS = 45_000

const QUEUE_PATH = (namespace: string) => `/apis/punctual.dev/v1alpha1/namespaces/${namespace}/httpqueues`
const MERGE = 'application/merge-patch+json'

interface World {
  readonly api: KubernetesApi
  readonly engine: TestEngine
  readonly redis: Redis
  readonly namespaces: readonly string[]
  /** Writes to HttpQueues that the API server itself has counted. */
  writes(): Promise<number>
  /** Of the API server's process, so far, s. */
  apiServerCpu(): Promise<number>
  start(): Promise<MeasuredController>
}

const measured: Record<string, number> = {}
const note = (what: string, value: number): void => {
  measured[what] = Math.round(value * 100) / 100
  process.stderr.write(`${what}: ${measured[what]}\n`)
}
const seconds = (sinceMs: number): number => (performance.now() - sinceMs) / 1000
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

async function main(): Promise<void> {
  const binaries = execFileSync(join(ROOT, 'scripts/control-plane.sh'), {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  }).trim()
  const plane = await startControlPlane({ binaries })
  const api = openKubernetesApi(plane.access)
  const redis = await startRedis()
  process.once('exit', () => redis.process.kill('SIGKILL'))
  const engine = await openEngine(redis.url)
  try {
    for (const file of readdirSync(join(ROOT, 'crds'))) {
      await applyDefinitions(api, readFileSync(join(ROOT, 'crds', file), 'utf8'))
    }
    const namespaces: string[] = []
    for (let made = 0; made < NAMESPACES; made += 1) namespaces.push(await newNamespace(api))
    const env = {
      PUNCTUAL_REDIS_URL: redis.url,
      PUNCTUAL_SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
      PUNCTUAL_POD_NAMESPACE: namespaces[0] ?? '',
      PUNCTUAL_SCALING_MODE: 'fixed',
      ...(process.env['NODE_OPTIONS'] === undefined ? {} : { NODE_OPTIONS: process.env['NODE_OPTIONS'] }),
    }
    const page = openPage(plane.access)
    const place = { url: plane.access.url, account: accountFolder(plane.access) }
    await measure({
      api,
      engine,
      namespaces,
      redis: redis.client,
      writes: async () => writesOf(await page()),
      apiServerCpu: async () => sumOf(await page(), 'process_cpu_seconds_total', ''),
      start: () => startMeasured(place, env),
    })
  } finally {
    engine.close()
    await redis.stop()
    await api.close()
    await plane.stop()
  }
  process.stdout.write(
    `${JSON.stringify({ queues: QUEUES, restMinutes: REST_MINUTES, ...measured }, null, 2)}\n`,
  )
}

async function measure(world: World): Promise<void> {
  await makeQueues(world)
  const first = await world.start()
  await measureStart(world, first)
  const second = await world.start()
  await sleep(SETTLE_MS)
  note('statuses written until at rest', await first.metric('punctual_statuses_written_total', 'HttpQueue'))
  await measureRest(world, first, second)
  await measureLeaderChange(world, first, second)
  await second.kill('SIGTERM')
  await measureRestart(world)
}

/** From a process that starts to all queues in force, and to all told; what is edited meanwhile must not wait. */
async function measureStart(world: World, controller: MeasuredController): Promise<void> {
  const since = controller.startedMs
  const apiServerBefore = await world.apiServerCpu()
  const noteCpu = async (when: string): Promise<void> => {
    note(`CPU time of the controller until ${when}, s`, await controller.metric('process_cpu_seconds_total'))
    note(`CPU time of the API server until ${when}, s`, (await world.apiServerCpu()) - apiServerBefore)
  }
  await until('one is in force', () => areInForce(world, 1), PHASE_TIMEOUT_MS)
  const edits = editAllTheTime(world)
  await until('all are in force', () => areInForce(world, QUEUES), PHASE_TIMEOUT_MS)
  note('start: all in force, s', seconds(since))
  await noteCpu('all are in force')
  const whileComingMs = edits.slowestMs()
  edits.forget()
  const isTold = async () =>
    (await controller.metric('punctual_statuses_written_total', 'HttpQueue')) >= QUEUES
  await until('all statuses are written', () => slowly(isTold), PHASE_TIMEOUT_MS)
  note('start: all statuses written, s', seconds(since))
  note('edit in force while queues come in force, slowest s', whileComingMs / 1000)
  note('edit in force while statuses are written, slowest s', edits.slowestMs() / 1000)
  await edits.stop()
  await sleep(LOOK_EVERY_MS * 8)
  note('untold queues after all statuses', await untold(world))
  await noteCpu('all are told')
  note('peak memory at the start, MiB', controller.peakRssMib())
}

async function measureRest(
  world: World,
  leader: MeasuredController,
  standby: MeasuredController,
): Promise<void> {
  const before = await world.writes()
  await sleep(REST_MINUTES * 60_000)
  note(`writes to queues at rest in ${REST_MINUTES} min`, (await world.writes()) - before)
  note('memory of the leader at rest, MiB', leader.rssMib())
  note('memory of the leader, peak, MiB', leader.peakRssMib())
  note('memory of the standby, peak, MiB', standby.peakRssMib())
  const watches = await leader.metric('punctual_kube_requests_total', 'verb="WATCH"')
  note('API calls of the leader', (await leader.metric('punctual_kube_requests_total')) - watches)
  note('connections at once: 4 for calls, 1 for the Lease, 1 a watch', leader.connections().atOnce)
  note('connections ever', leader.connections().ever)
  note('watches opened', watches)
}

async function measureLeaderChange(
  world: World,
  leader: MeasuredController,
  standby: MeasuredController,
): Promise<void> {
  const killedMs = performance.now()
  await leader.kill('SIGKILL')
  const isLeader = async () => (await standby.metric('punctual_leader')) === 1
  await until('the other leads', () => slowly(isLeader), PHASE_TIMEOUT_MS)
  note('leader killed: the other leads, s', seconds(killedMs))
  await edit(world, 1)
  note('leader killed: an edit by the other is in force, s', seconds(killedMs))
  await sleep(SETTLE_MS / 10)
}

/** Over queues that are in force and told. */
async function measureRestart(world: World): Promise<void> {
  const before = await world.writes()
  const third = await world.start()
  const looked = () => third.metric('punctual_reconcile_total', 'controller="httpqueue",result="success"')
  await until('all had their turn', () => slowly(async () => (await looked()) >= QUEUES), PHASE_TIMEOUT_MS)
  note('restart: all queues looked at, s', seconds(third.startedMs))
  await sleep(SETTLE_MS)
  note('restart: writes to queues', (await world.writes()) - before)
  note('restart: peak memory, MiB', third.peakRssMib())
  await third.kill('SIGTERM')
}

async function makeQueues({ api, namespaces }: World): Promise<void> {
  const startedMs = performance.now()
  let next = 0
  const make = async (): Promise<void> => {
    for (let index = next++; index < QUEUES; index = next++) {
      await api.send('POST', QUEUE_PATH(namespaceOf(namespaces, index)), {
        apiVersion: 'punctual.dev/v1alpha1',
        kind: 'HttpQueue',
        metadata: { name: `queue-${index}` },
        spec: { maxParallelism: 3, timeoutSeconds: 20 },
      })
    }
  }
  await Promise.all(Array.from({ length: MAKERS }, make))
  note('queues made, s', seconds(startedMs))
}

function namespaceOf(namespaces: readonly string[], index: number): string {
  return namespaces[index % NAMESPACES] ?? ''
}

async function areInForce({ engine, redis }: World, count: number): Promise<boolean> {
  await sleep(LOOK_EVERY_MS)
  const names = engine.engine.shards.map(({ queueIds: key }) => redis.hlen(key))
  return (await Promise.all(names)).reduce((sum, ofShard) => sum + ofShard, 0) >= count
}

async function slowly(probe: () => Promise<boolean>): Promise<boolean> {
  await sleep(LOOK_EVERY_MS)
  return probe()
}

/** Changes one queue; answers when Redis has it. @returns ms */
async function edit({ api, engine, namespaces }: World, index: number): Promise<number> {
  const startedMs = performance.now()
  const namespace = namespaceOf(namespaces, index)
  const name = `queue-${index}`
  const maxParallelism = 4 + (Math.round(startedMs) % 1_000)
  await api.send('PATCH', `${QUEUE_PATH(namespace)}/${name}`, { spec: { maxParallelism } }, MERGE)
  const store = createQueueStore(engine.engine)
  const isThere = async () =>
    (await store.getByName(namespace, name))?.settings.maxParallelism === maxParallelism
  await until(`${name} is in force as changed`, isThere, PHASE_TIMEOUT_MS)
  return performance.now() - startedMs
}

interface Edits {
  slowestMs(): number
  forget(): void
  stop(): Promise<void>
}

/** One after the other, each of another queue of a namespace that has all the others' work before it. */
function editAllTheTime(world: World): Edits {
  let isStopped = false
  let slowestMs = 0
  const run = async (): Promise<void> => {
    for (let index = QUEUES - 1; !isStopped && index >= 0; index -= NAMESPACES) {
      slowestMs = Math.max(slowestMs, await edit(world, index))
      await sleep(EDIT_EVERY_MS)
    }
  }
  const running = run()
  return {
    slowestMs: () => slowestMs,
    forget: () => {
      slowestMs = 0
    },
    stop: async () => {
      isStopped = true
      await running
    },
  }
}

async function untold({ api, namespaces }: World): Promise<number> {
  let count = 0
  for (const namespace of namespaces) {
    const { items } = (await api.send('GET', QUEUE_PATH(namespace))) as unknown as { items: ToldQueue[] }
    count += items.filter(({ metadata, status }) => status?.observedGeneration !== metadata.generation).length
  }
  return count
}

interface ToldQueue {
  readonly metadata: { readonly generation: number }
  readonly status?: { readonly observedGeneration?: number }
}

/** What a pod has of its service account. */
function accountFolder({ caPem, token }: ClusterAccess): string {
  const folder = mkdtempSync(join(tmpdir(), 'punctual-account-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'token'), token)
  writeFileSync(join(folder, 'ca.crt'), caPem)
  return folder
}

/** The API server's own metrics. */
function openPage({ url, caPem, token }: ClusterAccess): () => Promise<string> {
  const dispatcher = new Agent({ connect: { ca: caPem } })
  return async () => {
    const headers = { authorization: `Bearer ${token}` }
    return (await request(`${url}/metrics`, { dispatcher, headers })).body.text()
  }
}

function writesOf(page: string): number {
  const lines = page
    .split('\n')
    .filter(
      (line) => line.includes('resource="httpqueues"') && /verb="(PATCH|PUT|POST|APPLY|DELETE)"/.test(line),
    )
  return sumOf(lines.join('\n'), 'apiserver_request_total', '')
}

// So that what was started ends with it.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
await main()
