import { globSync, mkdtempSync, statSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import { freePort, startRedis, type TestRedisOptions } from '../../support/servers/redis-server.ts'
import { until } from '../../support/until.ts'
import type { Forgotten } from '../checker/judge.ts'

/**
 * While the disk is busy with an earlier one, a Redis that syncs each second puts off writes by up to two: what a kill
 * then takes is no fault of the program.
 */
const WRITES_AT_ONCE = ['--appendfsync', 'no']

/** A Redis that may die and come back at its port with what is in its folder. */
export interface FaultyRedis {
  readonly port: number
  readonly busPort: number
  /** Connects again when it is back. */
  readonly client: Redis
  /** Resolves when it is dead. */
  kill(): Promise<void>
  /** Kills it so long from now, and takes what it wrote until then from its file, as a power cut does. */
  cutPower(ms: number): Promise<Forgotten>
  /** Resolves when it answers. */
  restart(): Promise<void>
  /** Stands still until it is resumed. */
  pause(): void
  resume(): void
  stop(): Promise<void>
}

export async function startFaultyRedis(given: TestRedisOptions = {}): Promise<FaultyRedis> {
  const dataFolder = mkdtempSync(join(tmpdir(), 'punctual-fault-'))
  const settings = [...WRITES_AT_ONCE, ...(given.settings ?? [])]
  const options = { port: await freePort(), dataFolder, ...given, settings }
  const first = await startRedis(options)
  let now = first
  const kill = async () => {
    const { process: child } = now
    const exited = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGKILL')
    await exited
  }
  return {
    port: first.port,
    busPort: first.busPort,
    client: first.client,
    kill,
    cutPower: async (ms) => {
      const file = await growingFile(first.client, dataFolder)
      const [fromMs, { size }] = [Date.now(), statSync(file)]
      await sleep(ms)
      await kill()
      truncateSync(file, size)
      return { fromMs, toMs: Date.now(), takesAccepted: true }
    },
    restart: async () => {
      if (now !== first) await now.stop()
      // A node of a Cluster has noted which slots are its own.
      now = await startRedis({ ...options, busPort: first.busPort, slots: null })
    },
    pause: () => void now.process.kill('SIGSTOP'),
    resume: () => void now.process.kill('SIGCONT'),
    stop: async () => {
      if (now !== first) await now.stop()
      await first.stop()
    },
  }
}

/** The part of the append-only file that grows, from now on until the server is started again. */
async function growingFile(client: Redis, dataFolder: string): Promise<string> {
  await client.config('SET', 'auto-aof-rewrite-percentage', '0')
  // Beside a rewrite there are two.
  await until('no rewrite is under way', async () =>
    (await client.info('persistence')).includes('aof_rewrite_in_progress:0'),
  )
  const [file, ...others] = globSync(join(dataFolder, 'appendonlydir/*.incr.aof'))
  if (file === undefined || others.length > 0) throw new Error(`${others.length + 1} files grow`)
  return file
}
