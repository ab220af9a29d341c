/** A primary, its replicas and three sentinels, as processes on loopback. */
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { freePort } from '../../support/servers/redis-server.ts'
import { until } from '../../support/until.ts'
import type { Topology } from './topology.ts'

const NAME = 'mymaster'
/** Sentinels that are to notice a dead primary soon. */
const DOWN_AFTER_MS = 1_000
/** Those that are asked for a failover: on a busy machine they must not begin others by themselves. */
export const PATIENT_DOWN_AFTER_MS = 10_000
const FAILOVER_TIMEOUT_MS = 10_000

const REPLICAS = 2
const SENTINELS = 3
/** Elections and copies, on a machine that is busy otherwise. */
const AGREED_MS = 60_000
const FAILOVERS_ASKED_MAX = 5

interface Server {
  readonly port: number
  readonly client: Redis
  process: ChildProcess
}

interface Passwords {
  readonly redis: string
  readonly sentinels: string
}

export interface SentinelTopology extends Topology {
  /** Asks a sentinel for a failover, as for maintenance, and waits until all agree on the new primary. */
  failOver(): Promise<void>
  /** Kills the primary, starts it again so much later, and waits until all agree on another one. */
  killPrimary(restartAfterMs: number): Promise<void>
  /** Lets replicas hang and asks for a failover, which comes to nothing; they wake once the sentinel has given up. */
  failOverInVain(): Promise<void>
  /** Kills the replicas, and so much later the primary; the replicas come back at once, the primary after the failover. */
  killPrimaryAhead(aheadMs: number): Promise<void>
  /** Kills the primary and starts it again before the sentinels miss it. */
  restartPrimary(restartAfterMs: number): Promise<void>
}

interface SentinelOptions {
  /** Of the servers and of the sentinels; null = they ask for none. */
  readonly passwords?: Passwords | null
  /** For how long a server may be silent. */
  readonly downAfterMs?: number
}

export async function startSentinelTopology({
  passwords = null,
  downAfterMs = DOWN_AFTER_MS,
}: SentinelOptions = {}): Promise<SentinelTopology> {
  const folder = mkdtempSync(join(tmpdir(), 'punctual-sentinels-'))
  const servers: Server[] = []
  for (let i = 0; i <= REPLICAS; i += 1) {
    const lines = serverLines(servers[0]?.port ?? null, passwords)
    servers.push(await startServer(folder, { lines, password: passwords?.redis }))
  }
  const sentinels: Server[] = []
  for (let i = 0; i < SENTINELS; i += 1) {
    const lines = sentinelLines(servers[0]?.port ?? 0, { passwords, downAfterMs })
    const flags = ['--sentinel']
    sentinels.push(await startServer(folder, { lines, flags, password: passwords?.sentinels }))
  }

  async function named(sentinel: Server): Promise<number> {
    const [, port] = (await sentinel.client.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', NAME)) as string[]
    return Number(port)
  }

  async function primary(): Promise<Server> {
    const ports = await Promise.all(sentinels.map(named))
    const found = servers.find(({ port }) => ports.filter((one) => one === port).length * 2 > ports.length)
    if (found === undefined) throw new Error('the sentinels do not agree')
    return found
  }

  async function knowsAll(sentinel: Server): Promise<boolean> {
    const of = async (what: string) => (await sentinel.client.call('SENTINEL', what, NAME)) as string[][]
    const [found, others] = [await of('REPLICAS'), await of('SENTINELS')]
    const areUp = found.every((fields) => fields[fields.indexOf('flags') + 1] === 'slave')
    return found.length === REPLICAS && others.length === SENTINELS - 1 && areUp
  }

  async function settled(): Promise<void> {
    await until(
      'all sentinels know all servers',
      async () => (await Promise.all(sentinels.map(knowsAll))).every(Boolean),
      AGREED_MS,
    )
    const { client } = await primary()
    await until(
      'all replicas are up to date',
      async () => (await client.info('replication')).split('state=online').length - 1 === REPLICAS,
      AGREED_MS,
    )
  }

  async function switched(from: number): Promise<void> {
    await until(
      'all sentinels name another primary',
      async () => {
        const ports = await Promise.all(sentinels.map(named))
        return ports.every((port) => port !== from && port === ports[0])
      },
      AGREED_MS,
    )
  }

  const revive = (server: Server) => {
    server.process = spawnServer(join(folder, `${server.port}.conf`), [])
  }

  /** Answers the port of the one that was killed. */
  async function bounce(restartAfterMs: number): Promise<number> {
    const killed = await primary()
    await kill(killed)
    await sleep(restartAfterMs)
    revive(killed)
    return killed.port
  }

  const begin = () =>
    until('a sentinel begins', () =>
      (sentinels[0] as Server).client.call('SENTINEL', 'FAILOVER', NAME).then(
        () => true,
        () => false,
      ),
    )

  /** Of the sentinel that was asked for a failover. */
  async function isFailingOver(): Promise<boolean> {
    const fields = (await sentinels[0]?.client.call('SENTINEL', 'MASTER', NAME)) as string[]
    return fields[fields.indexOf('flags') + 1]?.includes('failover') === true
  }

  /** A sentinel may give up where a replica answers late, as on a busy machine, and is then asked again. */
  async function failOver(): Promise<void> {
    const { port } = await primary()
    for (let attempt = 0; attempt < FAILOVERS_ASKED_MAX; attempt += 1) {
      await begin()
      await until('the sentinel is done', async () => !(await isFailingOver()), AGREED_MS)
      if ((await named(sentinels[0] as Server)) !== port) break
    }
    await switched(port)
  }

  async function failOverInVain(): Promise<void> {
    const first = await primary()
    const replicas = servers.filter((server) => server !== first)
    for (const replica of replicas) replica.process.kill('SIGSTOP')
    await begin()
    await until('the sentinel gives up', async () => !(await isFailingOver()), AGREED_MS)
    for (const replica of replicas) replica.process.kill('SIGCONT')
  }

  async function killPrimaryAhead(aheadMs: number): Promise<void> {
    const first = await primary()
    const replicas = servers.filter((server) => server !== first)
    await Promise.all(replicas.map(kill))
    await sleep(aheadMs)
    await kill(first)
    for (const replica of replicas) revive(replica)
    await switched(first.port)
    revive(first)
  }

  await settled()
  const places = sentinels.map(({ port }) => ({ host: '127.0.0.1', port }))
  const url = `redis://${passwords === null ? '' : `:${passwords.redis}@`}${NAME}`
  return {
    env: {
      PUNCTUAL_REDIS_URL: url,
      PUNCTUAL_REDIS_SENTINELS: places.map(({ host, port }) => `${host}:${port}`).join(','),
      ...(passwords !== null && { PUNCTUAL_REDIS_SENTINEL_PASSWORD: passwords.sentinels }),
    },
    apiEnv: {},
    executorEnv: {},
    engine: { url, endpoint: { sentinels: places, sentinelPassword: passwords?.sentinels ?? null } },
    primaries: async () => [(await primary()).client],
    failOver,
    killPrimary: async (restartAfterMs) => switched(await bounce(restartAfterMs)),
    failOverInVain,
    killPrimaryAhead,
    restartPrimary: async (restartAfterMs) => void (await bounce(restartAfterMs)),
    settled,
    stop: async () => {
      await Promise.all([...sentinels, ...servers].map(end))
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function end(server: Server): Promise<void> {
  server.client.disconnect()
  await kill(server)
}

async function kill({ process: child }: Server): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGKILL')
  await exited
}

function serverLines(primaryPort: number | null, passwords: Passwords | null): string[] {
  return [
    'save ""',
    'appendonly yes',
    // While the disk is busy, one that syncs each second puts off writes: what a kill takes then is no fault of the program.
    'appendfsync no',
    'repl-diskless-sync-delay 0',
    ...(passwords === null ? [] : [`requirepass ${passwords.redis}`, `masterauth ${passwords.redis}`]),
    ...(primaryPort === null ? [] : [`replicaof 127.0.0.1 ${primaryPort}`]),
  ]
}

function sentinelLines(primaryPort: number, { passwords, downAfterMs }: Required<SentinelOptions>): string[] {
  return [
    `sentinel monitor ${NAME} 127.0.0.1 ${primaryPort} 2`,
    `sentinel down-after-milliseconds ${NAME} ${downAfterMs}`,
    `sentinel failover-timeout ${NAME} ${FAILOVER_TIMEOUT_MS}`,
    ...(passwords === null
      ? []
      : [
          `requirepass ${passwords.sentinels}`,
          `sentinel sentinel-pass ${passwords.sentinels}`,
          `sentinel auth-pass ${NAME} ${passwords.redis}`,
        ]),
  ]
}

interface ServerStart {
  readonly lines: readonly string[]
  readonly flags?: readonly string[]
  readonly password: string | undefined
}

async function startServer(folder: string, { lines, flags = [], password }: ServerStart): Promise<Server> {
  const port = await freePort()
  const own = [`port ${port}`, 'bind 127.0.0.1', `dir ${folder}`]
  const data = flags.length === 0 ? [`appenddirname aof-${port}`, `dbfilename ${port}.rdb`] : []
  const file = join(folder, `${port}.conf`)
  writeFileSync(file, [...own, ...data, ...lines].join('\n'))
  const process = spawnServer(file, flags)
  const client = new Redis(port, '127.0.0.1', {
    protocol: 2,
    retryStrategy: () => 20,
    maxRetriesPerRequest: null,
    enableReadyCheck: false,
    ...(password !== undefined && { password }),
  })
  client.on('error', () => undefined)
  await client.ping()
  return { port, client, process }
}

function spawnServer(file: string, flags: readonly string[]): ChildProcess {
  return spawn('redis-server', [file, ...flags], { stdio: 'ignore' })
}
