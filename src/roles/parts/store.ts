import type { Logger } from '../../ports/runtime.ts'
import type { Metrics } from '../../ports/metrics.ts'
import { connectRedis, type RedisConnection } from '../../redis/client/connection.ts'
import { createEngine, type Engine } from '../../redis/client/engine.ts'
import { checkRedisIsSafe, openInstallation, whenThereIsRoom } from '../../redis/installation/installation.ts'
import { guardConnection } from '../../redis/client/guarded-connection.ts'
import { loadScripts } from '../../redis/steps.ts'
import { createStepRunner } from '../../redis/client/step-runner.ts'
import { systemClock } from '../../telemetry/system-clock.ts'
import type { Lifecycle } from '../startup/lifecycle.ts'

/**
 * How the API uses Redis: a command that takes longer is a fault, as clients must get their 503 within the API's own
 * deadline, and at once when Redis is known to be away.
 */
export const API_REDIS = Object.freeze({ name: 'punctual-api', commandTimeoutMs: 1_500, isGuarded: true })
/** An executor may wait, and goes on trying. */
export const EXECUTOR_COMMAND_TIMEOUT_MS = 5_000

export interface Store {
  readonly connection: RedisConnection
  readonly engine: Engine
}

/** Connects to Redis, checks that it keeps jobs, and opens the engine on it. Throws StartupError. */
export async function openStore(options: {
  url: string
  redisCa: string | null
  name: string
  commandTimeoutMs: number
  shards: number
  allowUnsafeRedis: boolean
  /** While Redis is known to be away, commands fail at once. */
  isGuarded?: boolean
  logger: Logger
  metrics: Metrics
  lifecycle: Lifecycle
}): Promise<Store> {
  const { logger, metrics } = options
  const plain = await connectRedis(options)
  try {
    await checkRedisIsSafe(plain, { override: options.allowUnsafeRedis, logger })
    const jobIds = await whenThereIsRoom(openInstallation(plain, options.shards))
    const guarded = options.isGuarded === true ? guardConnection(plain, { clock: systemClock, logger }) : null
    const connection = guarded?.connection ?? plain
    const runner = createStepRunner({ connection, scripts: loadScripts(), clock: systemClock, metrics })
    options.lifecycle.onStop(`${options.name} connection`, () => {
      guarded?.stop()
      plain.disconnect()
    })
    return { connection, engine: createEngine({ runner, jobIds, logger, metrics }) }
  } catch (error) {
    plain.disconnect()
    throw error
  }
}
