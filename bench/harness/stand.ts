import { createSecretKey, randomBytes } from 'node:crypto'
import type { Engine } from '../../src/redis/base/engine/engine.ts'
import { SecretBox } from '../../src/redis/base/secret-box.ts'
import { createSettingsCompiler } from '../../src/redis/control/compiler/settings-compiler.ts'
import { openEngine, type TestEngine } from '../../test/support/engine/engine.ts'
import { newFolder } from './main-run.ts'
import { startTarget, type Target } from './nginx-target.ts'
import { type RedisServer, startRedisServer } from './redis-server.ts'
import { requirePrograms } from './requirements.ts'
import { type Role, type RoleName, SOURCE_MAIN, startRole } from './roles.ts'

/** The shards of a stand, unless it is told otherwise. */
export const SHARDS = 4
const TOKEN = 'token-of-the-benchmark'
const COMMAND_TIMEOUT_MS = 30_000

/** A Redis of its own, and what a benchmark runs on it; all of it ends with the stand. */
export interface Stand {
  readonly redis: RedisServer
  /** Where its programs keep their files. */
  readonly folder: string
  readonly engine: Engine
  readonly intake: TestEngine['intake']
  readonly compiler: ReturnType<typeof createSettingsCompiler>
  startTarget(): Promise<Target>
  /** Without waiting until it is ready. */
  start(
    role: RoleName,
    more?: {
      readonly env?: Readonly<Record<string, string>>
      readonly nodeArgs?: readonly string[]
      /** Of another version; absent = this one's. */
      readonly main?: string
    },
  ): Promise<Role>
  /** An API that is ready. */
  startApi(nodeArgs?: readonly string[], env?: Readonly<Record<string, string>>): Promise<Role>
}

export async function withStand(
  use: (stand: Stand) => Promise<void>,
  {
    redisSettings = [],
    ...engineOptions
  }: Parameters<typeof openEngine>[1] & { readonly redisSettings?: readonly string[] } = {},
): Promise<void> {
  requirePrograms((text) => console.error(text))
  const folder = newFolder()
  const key = randomBytes(32)
  const redis = await startRedisServer(folder, redisSettings)
  const opened = await openEngine(redis.url, {
    shards: SHARDS,
    commandTimeoutMs: COMMAND_TIMEOUT_MS,
    ...engineOptions,
  })
  const { engine, intake } = opened
  const started: { stop(): Promise<void> }[] = []
  const start: Stand['start'] = async (name, { env = {}, nodeArgs = [], main = SOURCE_MAIN } = {}) => {
    const own = {
      PUNCTUAL_REDIS_URL: redis.url,
      PUNCTUAL_SECRETS_KEY: key.toString('base64'),
      PUNCTUAL_TOKEN: TOKEN,
    }
    const role = await startRole(name, { folder, main, nodeArgs, env: { ...own, ...env } })
    started.push(role.program)
    return role
  }
  const stand: Stand = {
    redis,
    folder,
    engine,
    intake,
    compiler: createSettingsCompiler({ engine, box: new SecretBox(createSecretKey(key)), epoch: null }),
    startTarget: async () => {
      const target = await startTarget(folder)
      started.push(target)
      return target
    },
    start,
    startApi: async (nodeArgs = [], env = {}) => {
      const role = await start('api', { nodeArgs, env })
      await role.untilReady()
      return role
    },
  }
  try {
    await use(stand)
  } finally {
    for (const one of started) await one.stop()
    opened.close()
    await redis.stop()
  }
}

/** The headers of a request to an API of a stand. */
export function bearer(token = TOKEN): Record<string, string> {
  return { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
}
