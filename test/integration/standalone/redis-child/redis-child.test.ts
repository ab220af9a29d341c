import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Redis } from 'ioredis'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openDataFolder } from '../../../../src/standalone/data-folder.ts'
import { identityOf } from '../../../../src/standalone/process-identity.ts'
import { startRedisChild } from '../../../../src/standalone/redis-server/redis-child.ts'
import type {
  RedisChild,
  RedisChildOptions,
  RedisExit,
} from '../../../../src/standalone/redis-server/redis-child.ts'
import { quietLogger } from '../../../support/quiet.ts'
import { realClock } from './real-clock.ts'

let root: string
let base: string
let folder: string
let started: RedisChild[]
let clients: Redis[]
let pids: number[]

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'punctual-redis-')))
  base = root
  folder = join(base, 'redis')
  mkdirSync(folder)
  started = []
  clients = []
  pids = []
})

afterEach(async () => {
  for (const client of clients) client.disconnect()
  for (const redis of started) await redis.stop()
  for (const pid of pids.filter((one) => identityOf(one) !== null)) process.kill(pid, 'SIGKILL')
  rmSync(root, { recursive: true, force: true })
})

async function start(options: Partial<RedisChildOptions> = {}): Promise<RedisChild> {
  const redis = await startRedisChild({
    folder,
    maxmemoryBytes: 64 * 1024 ** 2,
    durability: 'relaxed',
    clock: realClock,
    logger: quietLogger,
    ...options,
  })
  started.push(redis)
  return redis
}

function connect(url: string): Redis {
  const client = new Redis(url, { protocol: 2, retryStrategy: () => 20, maxRetriesPerRequest: null })
  client.on('error', () => undefined)
  clients.push(client)
  return client
}

interface Left {
  readonly url: string
  readonly pid: number
  readonly token: string
  readonly holderPid: number
}

/** A process of ours that holds the data folder and runs a Redis in it. */
async function holder(): Promise<Left & { kill(): Promise<void> }> {
  const program = join(import.meta.dirname, 'holder-process.ts')
  const child = spawn(process.execPath, [program, base], { stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string]
  const told = JSON.parse(line) as Omit<Left, 'holderPid'>
  const holderPid = child.pid ?? 0
  pids.push(told.pid, holderPid)
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL')
    await exited
  }
  return { ...told, holderPid, kill }
}

/** The same, killed the hard way, its Redis left behind. */
async function killedParent(): Promise<Left> {
  const left = await holder()
  await left.kill()
  return left
}

async function gone(pid: number): Promise<void> {
  while (identityOf(pid) !== null) await new Promise((resolve) => setImmediate(resolve))
}

async function setting(client: Redis, name: string): Promise<string | undefined> {
  const [, value] = await client.config('GET', name)
  return value
}

describe('a start', () => {
  it('keeps every write, evicts nothing and listens on a socket for this user only', async () => {
    const redis = await start()
    const client = connect(redis.url)
    expect(redis).toMatchObject({ url: join(folder, 'redis.sock'), isAdopted: false })
    expect(await setting(client, 'appendonly')).toBe('yes')
    expect(await setting(client, 'appendfsync')).toBe('everysec')
    expect(await setting(client, 'maxmemory-policy')).toBe('noeviction')
    expect(await setting(client, 'maxmemory')).toBe(String(64 * 1024 ** 2))
    expect(await setting(client, 'save')).toBe('')
    expect(await setting(client, 'port')).toBe('0')
    expect(statSync(redis.url).mode & 0o777).toBe(0o700)
    expect(statSync(join(folder, 'redis.conf')).mode & 0o077).toBe(0)
  })

  it('keeps every write on disk where that is asked for', async () => {
    const redis = await start({ durability: 'fsync' })
    expect(await setting(connect(redis.url), 'appendfsync')).toBe('always')
  })

  it('is in a process group of its own, so that Ctrl-C does not reach it', async () => {
    const redis = await start()
    const stat = readFileSync(`/proc/${redis.pid()}/stat`, 'utf8')
    expect(Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[2])).toBe(redis.pid())
  })

  it('finds what the start before wrote, and stop leaves nothing running', async () => {
    const first = await start()
    const pid = first.pid() ?? 0
    await connect(first.url).set('job', 'kept')
    await first.stop()
    await first.stop()
    expect(identityOf(pid)).toBeNull()
    const second = await start()
    expect(second.isAdopted).toBe(false)
    expect(await connect(second.url).get('job')).toBe('kept')
  })

  it('waits until the data is loaded', async () => {
    const first = await start()
    const fill = "for i = 1, 200000 do redis.call('SET', 'job' .. i, i) end"
    await connect(first.url).eval(fill, 0)
    await first.stop()
    const second = await start()
    const client = new Redis(second.url, { enableReadyCheck: false, retryStrategy: () => null })
    clients.push(client)
    expect(await client.dbsize()).toBe(200_000)
  })

  it('cuts off the torn end that a power cut leaves', async () => {
    const first = await start()
    await connect(first.url).set('job', 'kept')
    await first.stop()
    const files = readdirSync(join(folder, 'appendonlydir')).filter((name) => name.endsWith('.incr.aof'))
    appendFileSync(join(folder, 'appendonlydir', files[0] ?? ''), '*3\r\n$3\r\nSET\r\n$4\r\nto')
    expect(await connect((await start()).url).get('job')).toBe('kept')
  })

  it('says what Redis said when it does not start', async () => {
    const first = await start()
    await connect(first.url).set('job', 'x')
    await first.stop()
    const files = readdirSync(join(folder, 'appendonlydir')).filter((name) => name.endsWith('.incr.aof'))
    writeFileSync(join(folder, 'appendonlydir', files[0] ?? ''), 'not an append-only file\r\nat all\r\n')
    await expect(start()).rejects.toThrow(
      /^Redis ended at its start with exit code 1: Bad file format.*redis\.log\.$/,
    )
  })

  it('names what to install when there is no server program', async () => {
    await expect(start({ servers: ['no-such-redis', 'no-such-valkey'] })).rejects.toThrow(
      /^Neither no-such-redis nor no-such-valkey is on PATH: install one \(Debian, Ubuntu: sudo apt-get install redis-server/,
    )
  })

  it('refuses a server program that is too old', async () => {
    const old = join(folder, 'old-redis')
    writeFileSync(old, '#!/bin/sh\necho "Redis server v=6.2.14 sha=0"\n', { mode: 0o755 })
    await expect(start({ servers: [old] })).rejects.toThrow(
      /is version 6\.2\.14, and 7\.0 or newer is needed/,
    )
  })

  it('moves a log that has grown large aside', async () => {
    writeFileSync(join(folder, 'redis.log'), '')
    truncateSync(join(folder, 'redis.log'), 2 * 1024 ** 2)
    await start()
    expect(statSync(join(folder, 'redis.log.1')).size).toBe(2 * 1024 ** 2)
    expect(statSync(join(folder, 'redis.log')).size).toBeLessThan(1024 ** 2)
  })

  it('works in a folder whose name needs quoting', async () => {
    const odd = join(folder, 'a "b" c\\d é')
    mkdirSync(odd)
    const redis = await start({ folder: odd })
    expect(await connect(redis.url).ping()).toBe('PONG')
  })

  it('that was aborted leaves nothing running', async () => {
    await expect(start({ signal: AbortSignal.abort() })).rejects.toThrow('aborted')
    expect(readdirSync(folder)).not.toContain('redis.pid')
  })
})

describe('a path too long for a socket', () => {
  it('takes a loopback port with a password instead, and finds its Redis again', async () => {
    base = join(base, 'x'.repeat(120))
    folder = join(base, 'redis')
    mkdirSync(folder, { recursive: true })
    const left = await killedParent()
    expect(left.url).toMatch(/^redis:\/\/:[0-9a-f]{48}@127\.0\.0\.1:[0-9]+$/)
    await connect(left.url).set('job', 'kept')
    const stranger = connect(left.url.replace(/:[0-9a-f]{48}@/, ''))
    await expect(stranger.get('job')).rejects.toThrow('NOAUTH')
    const redis = await start()
    expect(redis).toMatchObject({ url: left.url, isAdopted: true })
    expect(redis.pid()).toBe(left.pid)
    expect(await setting(connect(redis.url), 'bind')).toBe('127.0.0.1')
  })

  it('takes another port when its old one was taken meanwhile', async () => {
    base = join(base, 'x'.repeat(120))
    folder = join(base, 'redis')
    mkdirSync(folder, { recursive: true })
    const first = await start()
    const port = Number(URL.parse(first.url)?.port)
    await connect(first.url).set('job', 'kept')
    await first.stop()
    const taken = createServer((socket) => socket.end('-ERR who are you\r\n')).listen(port, '127.0.0.1')
    await once(taken, 'listening')
    const second = await start()
    expect(second.url).not.toBe(first.url)
    expect(await connect(second.url).get('job')).toBe('kept')
    taken.close()
  })
})

describe('a killed parent', () => {
  it('leaves a Redis that the next start adopts, with its data and the new settings', async () => {
    const left = await killedParent()
    expect(identityOf(left.pid)).not.toBeNull()
    await connect(left.url).set('job', 'kept')
    await connect(left.url).config('SET', 'maxmemory-policy', 'allkeys-lru')
    const redis = await start({ maxmemoryBytes: 128 * 1024 ** 2 })
    expect(redis.isAdopted).toBe(true)
    expect(redis.pid()).toBe(left.pid)
    const client = connect(redis.url)
    expect(await client.get('job')).toBe('kept')
    expect(await setting(client, 'maxmemory')).toBe(String(128 * 1024 ** 2))
    expect(await setting(client, 'maxmemory-policy')).toBe('noeviction')
    await redis.stop()
    expect(identityOf(left.pid)).toBeNull()
  })

  it('holds the data folder no longer, though its Redis runs on', async () => {
    const live = await holder()
    const given = { path: base, token: null, secretsKey: null }
    expect(() => openDataFolder(given)).toThrow(
      `The data folder ${base} is in use by process ${live.holderPid} at http://127.0.0.1:8080: stop that one first`,
    )
    await live.kill()
    const data = openDataFolder(given)
    expect(data.token).toBe(live.token)
    expect((await start({ folder: data.redisPath })).pid()).toBe(live.pid)
    data.close()
  })

  it('whose Redis died too is followed by a new Redis with the data', async () => {
    const left = await killedParent()
    const client = connect(left.url)
    await client.set('job', 'kept')
    process.kill(left.pid, 'SIGTERM')
    await gone(left.pid)
    const redis = await start()
    expect(redis.isAdopted).toBe(false)
    expect(await connect(redis.url).get('job')).toBe('kept')
  })

  it('whose Redis hangs is not followed by a second one on the same folder', async () => {
    const left = await killedParent()
    process.kill(left.pid, 'SIGSTOP')
    const fast = { ...realClock, monotonicMs: () => realClock.monotonicMs() * 10 }
    await expect(start({ clock: fast })).rejects.toThrow(
      `The Redis at ${left.url} (process ${left.pid}) accepts connections and does not answer: end it with kill ${left.pid}, then start again.`,
    )
    process.kill(left.pid, 'SIGCONT')
    expect((await start()).pid()).toBe(left.pid)
  })

  it('whose Redis can no longer be reached has it ended first: never two on one folder', async () => {
    const left = await killedParent()
    await connect(left.url).set('job', 'kept')
    unlinkSync(left.url)
    const redis = await start()
    expect(identityOf(left.pid)).toBeNull()
    expect(redis.isAdopted).toBe(false)
    expect(await connect(redis.url).get('job')).toBe('kept')
  })
})

describe('while it runs', () => {
  it('an unexpected end is reported and Redis comes back with its data', async () => {
    const exits: RedisExit[] = []
    const redis = await start({ onExit: (exit) => void exits.push(exit) })
    const client = connect(redis.url)
    await client.set('job', 'kept')
    const first = redis.pid() ?? 0
    process.kill(first, 'SIGKILL')
    await gone(first)
    expect(await client.get('job')).toBe('kept')
    expect(exits).toEqual([{ reason: 'SIGKILL', restartInMs: 100 }])
    while (redis.pid() === null) await new Promise((resolve) => setImmediate(resolve))
    expect(redis.pid()).not.toBe(first)
  })

  it('an adopted one that ends is started again as well', async () => {
    const left = await killedParent()
    const redis = await start()
    process.kill(left.pid, 'SIGKILL')
    await gone(left.pid)
    expect(await connect(redis.url).ping()).toBe('PONG')
  })

  it('waits longer before each restart that fails, up to five seconds, and stop ends the waiting', async () => {
    const delays: number[] = []
    // Time passes as fast as it is asked for, except for the first wait that is at the bound.
    const clock = {
      ...realClock,
      after: (delayMs: number, run: () => void) =>
        realClock.after(delayMs >= 5000 ? delayMs : Math.min(delayMs, 5), run),
    }
    const bound = Promise.withResolvers<void>()
    const redis = await start({
      clock,
      onExit: ({ restartInMs }) => {
        delays.push(restartInMs)
        if (restartInMs === 5000) bound.resolve()
      },
    })
    rmSync(redis.url)
    mkdirSync(redis.url)
    process.kill(redis.pid() ?? 0, 'SIGKILL')
    await bound.promise
    expect(delays).toEqual([100, 200, 400, 800, 1600, 3200, 5000])
    const stoppedAtMs = performance.now()
    await redis.stop()
    // It does not wait for the restart.
    expect(performance.now() - stoppedAtMs).toBeLessThan(4500)
    expect(redis.pid()).toBeNull()
  })
})

it('a stranger on our socket is refused', async () => {
  const stranger = mkdtempSync(join(tmpdir(), 'punctual-stranger-'))
  const other = spawn(
    'redis-server',
    ['--port', '0', '--unixsocket', join(folder, 'redis.sock'), '--dir', stranger],
    {
      stdio: 'ignore',
    },
  )
  await connect(join(folder, 'redis.sock')).ping()
  await expect(start()).rejects.toThrow(
    /^A Redis that is not ours answers at .*keeps its data in .*stop it first\.$/,
  )
  other.kill('SIGKILL')
  await once(other, 'exit')
  rmSync(stranger, { recursive: true, force: true })
})
