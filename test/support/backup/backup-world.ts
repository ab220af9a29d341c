/** Servers for backups, and what they hold. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Cluster, type Redis } from 'ioredis'
import { openEngine } from '../engine/engine.ts'
import { startRedis, type TestRedis, type TestRedisOptions } from '../servers/redis-server.ts'
import { runRole, type RoleRun } from './role-runs.ts'

/** A primary waits for further replicas before it makes its copy. */
export const AT_ONCE = ['--repl-diskless-sync-delay', '0']

export interface BackupWorld {
  /** A name in a folder of its own. */
  path(name: string): string
  /** A server without an installation. */
  empty(options?: TestRedisOptions): Promise<TestRedis>
  /** One with an installation. */
  installed(options?: TestRedisOptions): Promise<TestRedis>
  close(): Promise<void>
}

export function createBackupWorld(): BackupWorld {
  const folder = mkdtempSync(join(tmpdir(), 'punctual-backup-'))
  const servers: TestRedis[] = []
  const empty: BackupWorld['empty'] = async (options = {}) => {
    const server = await startRedis({ ...options, settings: [...AT_ONCE, ...(options.settings ?? [])] })
    servers.push(server)
    return server
  }
  return {
    path: (name) => join(folder, name),
    empty,
    installed: async (options) => {
      const server = await empty(options)
      const { close } = await openEngine(server.url)
      close()
      return server
    },
    close: async () => {
      await Promise.all(servers.map((server) => server.stop()))
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Makes a backup, which must succeed. */
export async function backUp(url: string, file: string, env: Record<string, string> = {}): Promise<string> {
  return succeeded(await runRole(['backup', file], { PUNCTUAL_REDIS_URL: url, ...env }))
}

/** Puts one back, which must succeed. */
export async function putBack(url: string, file: string, env: Record<string, string> = {}): Promise<string> {
  return succeeded(await runRole(['restore', file], { PUNCTUAL_REDIS_URL: url, ...env }))
}

/** Answers why one is not put back. */
export async function refusal(url: string, file: string, env: Record<string, string> = {}): Promise<string> {
  const { code, err } = await runRole(['restore', file], { PUNCTUAL_REDIS_URL: url, ...env })
  return `${code}: ${err}`
}

function succeeded({ code, out, err }: RoleRun): string {
  if (code !== 0 || err !== '') throw new Error(`exit ${code}: ${err}`)
  return out.toString()
}

/** What a restore writes of its own accord. */
const COUNTERS = /:(?:seq|qseq|tok)$/

/**
 * Every key with what DUMP says of it and when it expires. The members of a hash table come in an order that each server
 * draws for itself, so of those it is the members.
 */
export async function contentsOf(client: Redis | Cluster): Promise<Record<string, string>> {
  const nodes = client instanceof Cluster ? client.nodes('master') : [client]
  const contents: Record<string, string> = {}
  for (const node of nodes) {
    for (const key of await node.keys('*')) {
      if (COUNTERS.test(key)) continue
      const encoding = String(await node.object('ENCODING', key))
      const value = encoding === 'hashtable' ? await membersOf(node, key) : await node.dumpBuffer(key)
      contents[key] = `${encoding} ${String(await node.call('PEXPIRETIME', key))} ${value?.toString('hex')}`
    }
  }
  return contents
}

async function membersOf(node: Redis, key: string): Promise<Buffer> {
  if ((await node.type(key)) === 'set') {
    const members = await node.smembersBuffer(key)
    return Buffer.concat(members.sort((a, b) => a.compare(b)))
  }
  const fields = await node.call('HGETALL', key)
  const words = fields as readonly string[]
  const pairs = Array.from({ length: words.length / 2 }, (_, i) => `${words[i * 2]} ${words[i * 2 + 1]}`)
  return Buffer.from(pairs.sort().join('\n'))
}
