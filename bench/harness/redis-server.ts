import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { freePort } from './ports.ts'
import { startProgram, untilReady } from './processes.ts'
import { sleep, waitUntil } from './waiting.ts'

/** The same for every contender. No snapshots: a fork in the middle of a run would be luck. */
export const REDIS_SETTINGS = [
  '--bind',
  '127.0.0.1',
  '--save',
  '',
  '--appendonly',
  'yes',
  '--appendfsync',
  'everysec',
  '--maxmemory-policy',
  'noeviction',
  '--auto-aof-rewrite-percentage',
  '0',
]
const QUIET_MS = 1_500

/** A Redis of one contender's run. */
export interface RedisServer {
  readonly kind: 'redis'
  readonly url: string
  readonly port: number
  readonly client: Redis
  /** User and system time of all its threads, in seconds. */
  cpuSeconds(): Promise<number>
  commandsProcessed(): Promise<number>
  /** Bytes of the data: without the buffers of clients and of the append-only file. Waits until Redis is quiet. */
  dataBytes(): Promise<number>
  /** Bytes of all keys whose names match. */
  bytesOfKeys(pattern: string): Promise<number>
  stop(): Promise<void>
}

export async function startRedisServer(
  folder: string,
  settings: readonly string[] = [],
): Promise<RedisServer> {
  const port = await freePort()
  const data = mkdtempSync(join(folder, 'redis-'))
  const program = startProgram({
    name: 'redis',
    command: 'redis-server',
    args: ['--port', String(port), '--dir', data, ...REDIS_SETTINGS, ...settings],
    folder,
  })
  const client = new Redis(port, '127.0.0.1', { lazyConnect: true, protocol: 2, retryStrategy: () => 20 })
  client.on('error', () => undefined)
  await client.connect().catch(() => undefined)
  await untilReady(program, async () => (await client.ping().catch(() => '')) === 'PONG')

  const field = async (section: string, name: string): Promise<number> => {
    const info = await client.info(section)
    return Number(new RegExp(`^${name}:([0-9.]+)`, 'm').exec(info)?.[1] ?? 0)
  }
  return {
    kind: 'redis',
    url: `redis://127.0.0.1:${port}`,
    port,
    client,
    cpuSeconds: async () => (await field('cpu', 'used_cpu_sys')) + (await field('cpu', 'used_cpu_user')),
    commandsProcessed: () => field('stats', 'total_commands_processed'),
    dataBytes: async () => {
      await sleep(QUIET_MS)
      const used = await field('memory', 'used_memory')
      const clients = await field('memory', 'mem_clients_normal')
      return used - clients - (await field('memory', 'mem_aof_buffer'))
    },
    bytesOfKeys: (pattern) => bytesOfKeys(client, pattern),
    stop: async () => {
      client.disconnect()
      await program.stop()
      rmSync(data, { recursive: true, force: true })
    },
  }
}

const SLOTS = 16_384

/** Makes servers that know of no other the primaries of one Cluster, each with an equal part of the slots. */
export async function joinCluster(servers: readonly RedisServer[]): Promise<void> {
  const [first] = servers
  for (const [i, { client, port }] of servers.entries()) {
    const from = Math.floor((i * SLOTS) / servers.length)
    const to = Math.floor(((i + 1) * SLOTS) / servers.length) - 1
    await client.call('CLUSTER', 'ADDSLOTSRANGE', String(from), String(to))
    const settings: unknown = await client.config('GET', 'cluster-port')
    const busPort = String((settings as readonly unknown[])[1])
    if (i > 0) await first?.client.call('CLUSTER', 'MEET', '127.0.0.1', String(port), busPort)
  }
  const isWhole = async ({ client }: RedisServer): Promise<boolean> =>
    String(await client.call('CLUSTER', 'INFO')).includes('cluster_state:ok')
  for (const server of servers) {
    await waitUntil('the Cluster is whole', () => isWhole(server), { withinMs: 20_000 })
  }
}

async function bytesOfKeys(client: Redis, pattern: string): Promise<number> {
  let cursor = '0'
  let bytes = 0
  do {
    const [next, keys] = await client.scan(cursor, 'MATCH', pattern, 'COUNT', 1000)
    cursor = next
    for (const key of keys) bytes += (await client.memory('USAGE', key, 'SAMPLES', 0)) ?? 0
  } while (cursor !== '0')
  return bytes
}
