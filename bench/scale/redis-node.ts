import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { freePort } from '../harness/ports.ts'
import { startProgram, untilReady, type Program } from '../harness/processes.ts'
import { sleep, waitUntil } from '../harness/waiting.ts'

/** The chart's bundled Redis, with room for what is measured. */
const SETTINGS = [
  '--bind',
  '127.0.0.1',
  '--appendonly',
  'yes',
  '--appendfsync',
  'everysec',
  '--save',
  '',
  '--maxmemory',
  '12gb',
  '--maxmemory-policy',
  'noeviction',
]
const SLOTS = 16_384
const QUIET_MS = 1_500
const LOADED_WITHIN_MS = 600_000
/** Commands that take longer are remembered. */
const SLOW_MICROSECONDS = 1_000
const SLOW_KEPT = 20_000

/** A Redis that can be stopped and started again on its data. */
export class RedisNode {
  readonly port: number
  readonly client: Redis
  readonly #folder: string
  readonly #data: string
  readonly #cluster: readonly string[]
  #program: Program
  #cpuBefore = 0

  static async start(folder: string, isOfCluster = false): Promise<RedisNode> {
    const data = mkdtempSync(join(folder, 'redis-'))
    const port = await freePort()
    const bus = isOfCluster ? String(await freePort()) : ''
    const cluster = isOfCluster
      ? ['--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1', '--cluster-port', bus]
      : []
    const node = new RedisNode({ folder, data, port, cluster })
    await node.isLoaded()
    return node
  }

  private constructor(at: { folder: string; data: string; port: number; cluster: readonly string[] }) {
    this.port = at.port
    this.#folder = at.folder
    this.#data = at.data
    this.#cluster = at.cluster
    this.#program = this.#launch()
    this.client = new Redis(at.port, '127.0.0.1', {
      protocol: 2,
      retryStrategy: () => 20,
      maxRetriesPerRequest: null,
      enableReadyCheck: false,
    })
    this.client.on('error', () => undefined)
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`
  }

  /** User and system time, in seconds; also of what ran before a restart. */
  cpuSeconds(): number {
    return this.#cpuBefore + this.#program.cpuSeconds()
  }

  async field(section: string, name: string): Promise<number> {
    return Number(new RegExp(`^${name}:([0-9.]+)`, 'm').exec(await this.client.info(section))?.[1] ?? 0)
  }

  /** Of the data, without the buffers of clients and of the append-only file. Waits until it is quiet. */
  async dataBytes(): Promise<number> {
    await sleep(QUIET_MS)
    const buffers =
      (await this.field('memory', 'mem_clients_normal')) + (await this.field('memory', 'mem_aof_buffer'))
    return (await this.field('memory', 'used_memory')) - buffers
  }

  /** Calls of each command since the counts were reset, those within steps included. */
  async commands(): Promise<Map<string, number>> {
    const stats = await this.client.info('commandstats')
    const found = stats.matchAll(/^cmdstat_(\S+?):calls=(\d+)/gm)
    return new Map(Array.from(found, ([, name, calls]) => [name ?? '', Number(calls)]))
  }

  /** Counts commands and remembers slow ones from now on. */
  async resetCounts(): Promise<void> {
    await this.client.config('RESETSTAT')
    await this.client.config('SET', 'slowlog-log-slower-than', String(SLOW_MICROSECONDS))
    await this.client.config('SET', 'slowlog-max-len', String(SLOW_KEPT))
    await this.client.slowlog('RESET')
  }

  /** The longest command since the counts were reset; 0 ms = none took a millisecond. */
  async longestCommand(): Promise<{ ms: number; command: string }> {
    const slow = (await this.client.slowlog('GET', SLOW_KEPT)) as Array<[number, number, number, string[]]>
    const [, , micros = 0, words = []] = slow.toSorted((a, b) => b[2] - a[2])[0] ?? []
    return { ms: micros / 1000, command: words.slice(0, 5).join(' ') }
  }

  /** Ends as Kubernetes ends a pod, and starts on the same data. Resolves when the process has started, not loaded. */
  async restart(): Promise<void> {
    this.#cpuBefore += this.#program.cpuSeconds()
    await this.stopProgram()
    this.#program = this.#launch()
  }

  async isLoaded(): Promise<void> {
    const check = async (): Promise<boolean> => (await this.client.ping().catch(() => '')) === 'PONG'
    await untilReady(this.#program, check, LOADED_WITHIN_MS)
  }

  async rewriteAppendOnlyFile(): Promise<void> {
    await this.isRewritten()
    await this.client.bgrewriteaof()
    await this.isRewritten()
  }

  async isRewritten(): Promise<void> {
    const isBusy = async () =>
      (await this.field('persistence', 'aof_rewrite_in_progress')) +
        (await this.field('persistence', 'aof_rewrite_scheduled')) >
      0
    await waitUntil('the append-only file is rewritten', async () => !(await isBusy()), {
      withinMs: LOADED_WITHIN_MS,
      everyMs: 200,
    })
  }

  async stopProgram(): Promise<void> {
    this.#program.kill('SIGTERM')
    await waitUntil('Redis has ended', () => this.#program.hasEnded(), { withinMs: 60_000 })
  }

  async stop(): Promise<void> {
    this.client.disconnect()
    this.#program.kill('SIGKILL')
    await this.#program.stop()
  }

  #launch(): Program {
    return startProgram({
      name: `redis-${this.port}`,
      command: 'redis-server',
      args: ['--port', String(this.port), '--dir', this.#data, ...SETTINGS, ...this.#cluster],
      folder: this.#folder,
    })
  }
}

/** A Cluster of so many primaries, each with an equal part of the slots. */
export async function startPrimaries(folder: string, count: number): Promise<RedisNode[]> {
  const nodes: RedisNode[] = []
  while (nodes.length < count) nodes.push(await RedisNode.start(folder, true))
  for (const [i, { client }] of nodes.entries()) {
    const [first, next] = [Math.floor((i * SLOTS) / count), Math.floor(((i + 1) * SLOTS) / count)]
    await client.call('CLUSTER', 'ADDSLOTSRANGE', String(first), String(next - 1))
    // Two nodes that begin with the same epoch would have to agree on another first.
    await client.call('CLUSTER', 'SET-CONFIG-EPOCH', String(i + 1))
  }
  for (const { client } of nodes.slice(1)) await meet(client, nodes[0])
  for (const { client } of nodes) {
    const isWhole = async () => String(await client.call('CLUSTER', 'INFO')).includes('cluster_state:ok')
    await waitUntil('the Cluster is whole', isWhole, { withinMs: 30_000 })
  }
  return nodes
}

async function meet(client: Redis, other: RedisNode | undefined): Promise<void> {
  if (other === undefined) return
  const shown = String(await other.client.call('CLUSTER', 'NODES'))
  const bus = /:\d+@(\d+)/.exec(shown)?.[1] ?? ''
  await client.call('CLUSTER', 'MEET', '127.0.0.1', String(other.port), bus)
}
