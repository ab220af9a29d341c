import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { until } from '../until.ts'

/** A real Redis of a test's own: loopback, AOF on, noeviction. */
export interface TestRedis {
  readonly port: number
  /** Where the nodes of a Cluster talk to each other; 0 without. */
  readonly busPort: number
  readonly url: string
  readonly process: ChildProcess
  /** A plain client of this server, closed by `stop`. */
  readonly client: Redis
  stop(): Promise<void>
}

export interface TestRedisOptions {
  readonly port?: number
  readonly dataFolder?: string
  /** Extra arguments for redis-server. */
  readonly settings?: readonly string[]
  readonly password?: string
  /** `redis-server` when not said. */
  readonly program?: string
  readonly cluster?: boolean
  /** In Cluster mode: where the nodes talk to each other; a free one when not said. */
  readonly busPort?: number
  /** In Cluster mode: the first and last slot this node takes; all when not said, null = none. */
  readonly slots?: readonly [number, number] | null
}

/** Of a Cluster. */
export const SLOTS = 16_384

/**
 * Systems give ports above these to connections, and to listeners that wish for none: one of those would be somebody
 * else's by the time it is bound. Each process begins at a place of its own, for files run beside each other.
 */
const PORTS = { from: 12_000, to: 32_000 }
let portsTried = process.pid * 97

/** One that is bound later, by its number: nobody is given it meanwhile, and no other caller here. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < PORTS.to - PORTS.from; tries += 1) {
    const port = PORTS.from + (portsTried % (PORTS.to - PORTS.from))
    portsTried += 1
    if (await isFree(port)) return port
  }
  throw new Error('no port is free')
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  const isBound = await new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => resolve(true))
  })
  if (isBound) await new Promise((resolve) => server.close(resolve))
  return isBound
}

export async function startRedis(options: TestRedisOptions = {}): Promise<TestRedis> {
  const port = options.port ?? (await freePort())
  // Redis's own choice, port + 10000, may lie past the last port.
  const busPort = options.cluster === true ? (options.busPort ?? (await freePort())) : 0
  const folder = options.dataFolder ?? mkdtempSync(join(tmpdir(), 'punctual-redis-'))
  const child = spawn(
    options.program ?? 'redis-server',
    [
      '--port',
      String(port),
      '--bind',
      '127.0.0.1',
      '--dir',
      folder,
      '--save',
      '',
      '--appendonly',
      'yes',
      '--appendfsync',
      'everysec',
      '--maxmemory-policy',
      'noeviction',
      ...(options.cluster === true ? clusterSettings(busPort) : []),
      ...(options.password === undefined ? [] : ['--requirepass', options.password]),
      ...(options.settings ?? []),
    ],
    { stdio: 'ignore' },
  )
  const client = new Redis(port, '127.0.0.1', {
    protocol: 2,
    retryStrategy: () => 20,
    maxRetriesPerRequest: null,
    ...(options.password !== undefined && { password: options.password }),
  })
  client.on('error', () => undefined)
  await answers(client, child)
  if (options.cluster === true && options.slots !== null)
    await takeSlots(client, options.slots ?? [0, SLOTS - 1])
  return {
    port,
    busPort,
    url: `redis://127.0.0.1:${port}`,
    process: child,
    client,
    stop: async () => {
      client.disconnect()
      if (child.exitCode === null && child.signalCode === null) {
        const exited = new Promise((resolve) => child.once('exit', resolve))
        child.kill('SIGKILL')
        await exited
      }
      if (options.dataFolder === undefined) rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Another server at its port would answer as well, and be emptied by a test that is not its own. */
async function answers(client: Redis, child: ChildProcess): Promise<void> {
  const ended = new Promise<never>((_, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`redis-server ended at its start with exit code ${code}`)))
  })
  try {
    const said = await Promise.race([client.info('server'), ended])
    if (!said.includes(`process_id:${child.pid}\r\n`)) throw new Error('another Redis has its port')
  } catch (error) {
    client.disconnect()
    child.kill('SIGKILL')
    throw error
  }
}

function clusterSettings(busPort: number): string[] {
  return ['--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1', '--cluster-port', String(busPort)]
}

async function takeSlots(client: Redis, [first, last]: readonly [number, number]): Promise<void> {
  await client.call('CLUSTER', 'ADDSLOTSRANGE', String(first), String(last))
  if (first === 0 && last === SLOTS - 1) await clusterIsWhole([client])
}

/** Waits until every node says that all slots are served. */
export async function clusterIsWhole(nodes: readonly Redis[]): Promise<void> {
  for (const node of nodes) {
    await until('the Cluster is whole', async () =>
      String(await node.call('CLUSTER', 'INFO')).includes('cluster_state:ok'),
    )
  }
}

/**
 * Bytes in use without the buffers of clients, which grow with a large command and shrink some time after it: later on a
 * busy machine.
 */
export async function heldBytes(client: Redis): Promise<number> {
  const clients = (await client.client('LIST')) as string
  const buffers = [...clients.matchAll(/ tot-mem=(\d+)/g)].reduce((sum, [, bytes]) => sum + Number(bytes), 0)
  return Number(/used_memory:(\d+)/.exec(await client.info('memory'))?.[1]) - buffers
}
