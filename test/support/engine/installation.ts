/** A complete installation: Redis, API and executors as processes, and a target. */
import { createSecretKey, hash, randomBytes } from 'node:crypto'
import { inspect } from '../../../src/redis/inspection/inspect.ts'
import type { SettingsCompiler } from '../../../src/ports/settings.ts'
import { loadScripts, type StepName } from '../../../src/redis/steps.ts'
import { SecretBox } from '../../../src/redis/sealing/secret-box.ts'
import { createSettingsCompiler } from '../../../src/redis/control/settings-compiler.ts'
import { createApiClient, type ApiClient } from '../servers/api-client.ts'
import { openEngine, type TestEngine } from './engine.ts'
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

export interface Installation {
  readonly redis: TestRedis
  readonly target: Target
  /** The API and its client, of team `default`. */
  readonly api: Api
  readonly client: ApiClient
  readonly executors: Program[]
  /** The environment of this installation's roles. */
  readonly env: Readonly<Record<string, string>>
  /** @param version as of `runProgram` */
  startApi(env?: Record<string, string>, version?: string | null): Promise<Api>
  /** Waits until the executor holds its leases. It stops with the installation. @param version as of `runProgram` */
  startExecutor(env?: Record<string, string>, version?: string | null): Promise<Program>
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

export interface InstallationOptions {
  readonly executors?: number
  readonly executorEnv?: Record<string, string>
  readonly apiEnv?: Record<string, string>
  /** Of the first API and the executors; as of `runProgram`. */
  readonly apiVersion?: string | null
  readonly executorVersion?: string | null
  readonly redis?: TestRedisOptions
}

export async function startInstallation(options: InstallationOptions = {}): Promise<Installation> {
  const [redis, target] = await Promise.all([startRedis(options.redis), startTarget()])
  const key = randomBytes(32)
  const env = {
    PUNCTUAL_REDIS_URL: redis.url,
    PUNCTUAL_SECRETS_KEY: key.toString('base64'),
    PUNCTUAL_EGRESS_ALLOW: '127.0.0.0/8,localhost',
    PUNCTUAL_PORT: '0',
    PUNCTUAL_OPS_PORT: '0',
  }
  const programs: Program[] = []
  const executors: Program[] = []
  let engine: TestEngine | null = null

  async function startApi(extra: Record<string, string> = {}, version: string | null = null): Promise<Api> {
    // Whatever the API answers, it answers without the key of secrets; one of before wants it all the same.
    const { PUNCTUAL_SECRETS_KEY: _key, ...apiEnv } = env
    const program = runProgram(
      ['api'],
      { ...(version === null ? apiEnv : env), PUNCTUAL_TOKEN: TOKEN, ...extra },
      version,
    )
    programs.push(program)
    const url = String((await program.logged('The API listens'))['url'])
    return { program, url, client: createApiClient(url, TOKEN) }
  }

  async function startExecutor(
    extra: Record<string, string> = {},
    version: string | null = null,
  ): Promise<Program> {
    const program = runProgram(['executor'], { ...env, ...extra }, version)
    programs.push(program)
    executors.push(program)
    await program.logged('The executor holds its leases')
    return program
  }

  async function withCompiler<T>(use: (compiler: SettingsCompiler) => Promise<T>): Promise<T> {
    const { engine } = await ownEngine()
    const box = new SecretBox(createSecretKey(key))
    return use(createSettingsCompiler({ engine, box, epoch: null }))
  }

  async function ownEngine(): Promise<TestEngine> {
    return (engine ??= await openEngine(redis.url))
  }

  async function slotsInUse(): Promise<number> {
    const keys = await redis.client.keys('punctual:*:a:*')
    const sizes = await Promise.all(keys.map((each) => redis.client.zcard(each)))
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
    redis,
    target,
    api,
    client: api.client,
    executors,
    env,
    startApi,
    startExecutor,
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
        hashes[name as StepName] = String(await redis.client.script('LOAD', source))
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
      await Promise.all([redis.stop(), target.close()])
      if (faults.length > 0) throw new Error(`the installation is not clean:\n${faults.join('\n')}`)
    },
  }
}
