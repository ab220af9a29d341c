/** A complete installation: Redis, API and executors as processes, and a target. */
import { createSecretKey, hash, randomBytes } from 'node:crypto'
import type { Redis } from 'ioredis'
import { inspect } from '../../../src/redis/upkeep/inspection/inspect.ts'
import type { SettingsCompiler } from '../../../src/ports/settings.ts'
import { loadScripts, type StepName } from '../../../src/redis/steps.ts'
import { nameOfExecutor } from '../../../src/redis/base/layout/executor-id.ts'
import { SecretBox } from '../../../src/redis/base/secret-box.ts'
import { createSettingsCompiler } from '../../../src/redis/control/compiler/settings-compiler.ts'
import { createApiClient, type ApiClient } from '../servers/api-client.ts'
import { openEngine, type TestEngine, type TestEngineOptions } from './engine.ts'
import { makeKeptFolder } from './kept-folder.ts'
import { runProgram, stopProgram, type Program, type StopExpectation } from '../servers/processes.ts'
import { startRedis, type TestRedis, type TestRedisOptions } from '../servers/redis-server.ts'
import { startTarget, type Target } from '../targets/target.ts'
import { until } from '../until.ts'
import { anApiToken } from '../principals.ts'

export const TOKEN = 'token-of-team-default'

export interface Api {
  readonly program: Program
  readonly url: string
  readonly client: ApiClient
}

/** The servers under an installation, whatever their number and shape. */
export interface RedisServers {
  /** How roles reach them. */
  readonly env: Readonly<Record<string, string>>
  /** How the test's own engine does. */
  readonly engine: Pick<TestEngineOptions, 'endpoint' | 'shards'> & { readonly url: string }
  /** A client of each server that takes writes now. */
  primaries(): Promise<readonly Redis[]>
  stop(): Promise<void>
}

/** The roles of an installation, and the target that they call. */
export interface Roles {
  readonly target: Target
  /** The API and its client, of team `default`. */
  readonly api: Api
  readonly client: ApiClient
  readonly executors: Program[]
  /** All that were started, in order; some may have ended. */
  readonly programs: readonly Program[]
  /** The environment of this installation's roles. */
  readonly env: Readonly<Record<string, string>>
  /** @param version as of `runProgram` */
  startApi(env?: Record<string, string>, version?: string | null): Promise<Api>
  /** Waits until the executor holds its leases. It stops with the installation. @param version as of `runProgram` */
  startExecutor(env?: Record<string, string>, version?: string | null): Promise<Program>
  /** The executor that holds a job in flight. */
  holderOf(jobId: number): Promise<Program>
  /** Lets the leases of a killed executor be over now instead of 17 s after its death. */
  endLeases(killed: Program): Promise<void>
  /** Kills an executor and ends its leases. */
  loseExecutor(executor: Program): Promise<void>
  /** Waits until every shard has released what a killed executor had. */
  reaped(killed: Program): Promise<void>
  /** Writes teams and tokens as a controller does. */
  withCompiler<T>(use: (compiler: SettingsCompiler) => Promise<T>): Promise<T>
  /** A client of another team, once the API knows its token. */
  clientOfTeam(team: string): Promise<ApiClient>
  /** Loads every script, so that each step is sent as EVALSHA. Answers their hashes. */
  loadScripts(): Promise<Record<StepName, string>>
  /** Slots in use, summed over all queues. */
  slotsInUse(): Promise<number>
  /** Waits until no slot is in use, then answers the findings of the inspection. */
  inspectAtRest(timeoutMs?: number): Promise<string[]>
  /** Inspects the idle installation and stops it. Throws an error that names everything wrong. */
  close(expectation?: StopExpectation): Promise<void>
}

export interface Installation extends Roles {
  readonly redis: TestRedis
}

export interface RolesOptions {
  readonly executors?: number
  readonly executorEnv?: Record<string, string>
  readonly apiEnv?: Record<string, string>
  /** Of the first API and the executors; as of `runProgram`. */
  readonly apiVersion?: string | null
  readonly executorVersion?: string | null
}

export interface InstallationOptions extends RolesOptions {
  readonly redis?: TestRedisOptions
}

/** On a Redis of its own, which stops with it. */
export async function startInstallation(options: InstallationOptions = {}): Promise<Installation> {
  const redis = await startRedis(options.redis)
  const servers: RedisServers = {
    env: { PUNCTUAL_REDIS_URL: redis.url },
    engine: { url: redis.url },
    primaries: async () => [redis.client],
    stop: redis.stop,
  }
  return { redis, ...(await startRoles(servers, options)) }
}

/** On servers that run, which stop with it. */
export async function startRoles(servers: RedisServers, options: RolesOptions = {}): Promise<Roles> {
  const target = await startTarget()
  const key = randomBytes(32)
  const env = {
    ...servers.env,
    PUNCTUAL_SECRETS_KEY: key.toString('base64'),
    PUNCTUAL_EGRESS_ALLOW: '127.0.0.0/8,localhost',
    PUNCTUAL_PORT: '0',
    PUNCTUAL_OPS_PORT: '0',
  }
  const keptFolder = makeKeptFolder()
  const programs: Program[] = []
  const executors: Program[] = []
  const names = new Map<Program, string>()
  let engine: TestEngine | null = null

  async function startApi(extra: Record<string, string> = {}, version: string | null = null): Promise<Api> {
    const own = { ...keptFolder.env(), PUNCTUAL_TOKEN: TOKEN }
    const program = runProgram(['api'], { ...env, ...own, ...extra }, version)
    programs.push(program)
    const url = String((await program.logged('The API listens'))['url'])
    return { program, url, client: createApiClient(url, TOKEN) }
  }

  async function startExecutor(
    extra: Record<string, string> = {},
    version: string | null = null,
  ): Promise<Program> {
    // Leases are told apart by the name in their ids.
    const name = `executor-${executors.length}`
    const program = runProgram(['executor'], { ...env, PUNCTUAL_POD_NAME: name, ...extra }, version)
    programs.push(program)
    executors.push(program)
    names.set(program, name)
    await program.logged('The executor holds its leases')
    return program
  }

  /** Keys of this pattern, with a client of the server that has each. */
  async function keysLike(pattern: string): Promise<ReadonlyArray<readonly [Redis, string]>> {
    const found = (await servers.primaries()).map(async (server) =>
      (await server.keys(pattern)).map((each) => [server, each] as const),
    )
    return (await Promise.all(found)).flat()
  }

  /** The leases of an executor, with the key of each and a client of its server. */
  async function leasesOf(executor: Program): Promise<ReadonlyArray<readonly [Redis, string, string]>> {
    const leases = (await keysLike('punctual:*:ex')).map(async ([server, each]) => {
      const ids = await server.zrange(each, 0, '-1')
      const own = ids.filter((id) => nameOfExecutor(id) === names.get(executor))
      return own.map((id) => [server, each, id] as const)
    })
    return (await Promise.all(leases)).flat()
  }

  async function holderOf(jobId: number): Promise<Program> {
    return until(`job ${jobId} is held`, async () => {
      for (const [server, each] of await keysLike('punctual:*:in:*')) {
        if ((await server.hexists(each, String(jobId))) === 0) continue
        const name = nameOfExecutor(each.slice(each.lastIndexOf(':in:') + 4))
        return executors.find((one) => names.get(one) === name)
      }
      return null
    })
  }

  async function endLeases(killed: Program): Promise<void> {
    await killed.exited
    // One that is reaped already does not come back.
    for (const [server, each, id] of await leasesOf(killed)) await server.zadd(each, 'XX', 1, id)
  }

  async function withCompiler<T>(use: (compiler: SettingsCompiler) => Promise<T>): Promise<T> {
    const { engine } = await ownEngine()
    const box = new SecretBox(createSecretKey(key))
    return use(createSettingsCompiler({ engine, box, epoch: null }))
  }

  async function ownEngine(): Promise<TestEngine> {
    const { url, ...how } = servers.engine
    return (engine ??= await openEngine(url, how))
  }

  async function slotsInUse(): Promise<number> {
    const keys = await keysLike('punctual:*:a:*')
    const sizes = await Promise.all(keys.map(([server, each]) => server.zcard(each)))
    return sizes.reduce((sum, size) => sum + size, 0)
  }

  async function inspectAtRest(timeoutMs?: number): Promise<string[]> {
    await until('all slots are free', async () => (await slotsInUse()) === 0, timeoutMs)
    const { engine } = await ownEngine()
    // A step between two reads may cause a finding, which a second run does not repeat.
    const findings = (await inspect(engine)).length === 0 ? [] : await inspect(engine)
    return findings.map(({ key, message }) => `${key}: ${message}`)
  }

  const { apiVersion, executorVersion } = options
  const api = await startApi(options.apiEnv, apiVersion)
  const newExecutor = () => startExecutor(options.executorEnv, executorVersion)
  await Promise.all(Array.from({ length: options.executors ?? 1 }, newExecutor))
  return {
    target,
    api,
    client: api.client,
    executors,
    programs,
    env: { ...env, ...keptFolder.env() },
    startApi,
    startExecutor,
    holderOf,
    endLeases,
    loseExecutor: async (executor) => {
      executor.signal('SIGKILL')
      await endLeases(executor)
    },
    reaped: async (killed) => {
      await until('every shard has reaped it', async () => (await leasesOf(killed)).length === 0)
    },
    withCompiler,
    clientOfTeam: async (team) => {
      const token = `token-of-team-${team}-${randomBytes(6).toString('hex')}`
      const sha256Hex = hash('sha256', token, 'hex')
      await withCompiler((compiler) => compiler.putToken(anApiToken('tests', { team, sha256Hex })))
      const client = createApiClient(api.url, token)
      await until(
        `the token of ${team}`,
        async () => (await client.send('GET', '/api/queues')).status === 200,
      )
      return client
    },
    loadScripts: async () => {
      const scripts = loadScripts()
      const hashes: Partial<Record<StepName, string>> = {}
      for (const { name, source } of Object.values(scripts)) {
        for (const server of await servers.primaries())
          hashes[name as StepName] = String(await server.script('LOAD', source))
      }
      return hashes as Record<StepName, string>
    },
    slotsInUse,
    inspectAtRest,
    close: async (expectation) => {
      const faults = await inspectAtRest().catch((error: unknown) => [String(error)])
      for (const program of programs) {
        faults.push(...(await stopProgram(program, expectation)))
      }
      engine?.close()
      await Promise.all([servers.stop(), target.close()])
      if (faults.length > 0) throw new Error(`the installation is not clean:\n${faults.join('\n')}`)
    },
  }
}
