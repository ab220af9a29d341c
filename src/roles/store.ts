import type { Logger } from '../ports/logger.ts'
import type { Metrics } from '../ports/metrics.ts'
import { connectRedis, type RedisConnection } from '../redis/connection.ts'
import { createEngine, type Engine } from '../redis/engine.ts'
import { checkRedisIsSafe, openInstallation, whenThereIsRoom } from '../redis/installation.ts'
import { loadScripts } from '../redis/scripts.ts'
import { createStepRunner } from '../redis/step-runner.ts'
import { systemClock } from '../telemetry/system-clock.ts'
import type { Lifecycle } from './lifecycle.ts'

/** A command that takes longer is a fault: the API must answer 503 within its own deadline, an executor may wait. */
export const API_COMMAND_TIMEOUT_MS = 1_500
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
  logger: Logger
  metrics: Metrics
  lifecycle: Lifecycle
}): Promise<Store> {
  const { logger, metrics } = options
  const connection = await connectRedis(options)
  try {
    await checkRedisIsSafe(connection, { override: options.allowUnsafeRedis, logger })
    const jobIds = await whenThereIsRoom(openInstallation(connection, options.shards))
    const runner = createStepRunner({ connection, scripts: loadScripts(), clock: systemClock, metrics })
    options.lifecycle.onStop(`${options.name} connection`, () => connection.disconnect())
    return { connection, engine: createEngine({ runner, jobIds, logger, metrics }) }
  } catch (error) {
    connection.disconnect()
    throw error
  }
}
