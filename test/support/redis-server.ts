import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'

/** A real Redis of a test's own: loopback, AOF on, noeviction. */
export interface TestRedis {
  readonly port: number
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
  readonly cluster?: boolean
}

export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

export async function startRedis(options: TestRedisOptions = {}): Promise<TestRedis> {
  const port = options.port ?? (await freePort())
  const folder = options.dataFolder ?? mkdtempSync(join(tmpdir(), 'punctual-redis-'))
  const child = spawn(
    'redis-server',
    [
      ...['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', ''],
      ...['--appendonly', 'yes', '--appendfsync', 'everysec', '--maxmemory-policy', 'noeviction'],
      ...(options.cluster ? ['--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1'] : []),
      ...(options.settings ?? []),
    ],
    { stdio: 'ignore' },
  )
  const client = new Redis(port, '127.0.0.1', {
    protocol: 2,
    retryStrategy: () => 20,
    maxRetriesPerRequest: null,
  })
  client.on('error', () => undefined)
  await client.ping()
  if (options.cluster) await takeAllSlots(client)
  return {
    port,
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

/** Makes a one-node cluster of a server that was started in Cluster mode. */
async function takeAllSlots(client: Redis): Promise<void> {
  await client.call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383')
  while (!String(await client.call('CLUSTER', 'INFO')).includes('cluster_state:ok')) {
    await new Promise((resolve) => setImmediate(resolve))
  }
}
