import type { WakeHints } from '../../ports/jobs.ts'
import { connectRedis, type RedisConnection } from '../../redis/client/connection.ts'
import { createEngine, DEFAULT_RETENTION, type Engine } from '../../redis/client/engine.ts'
import { checkRedisIsSafe, openInstallation, whenThereIsRoom } from '../../redis/installation/installation.ts'
import { guardConnection } from '../../redis/client/guarded-connection.ts'
import { loadScripts } from '../../redis/steps.ts'
import { createStepRunner } from '../../redis/client/step-runner.ts'
import { systemClock } from '../../telemetry/system-clock.ts'
import { subscribeToWakeHints } from '../../redis/client/wake-hints.ts'
import type { Lifecycle } from '../startup/lifecycle.ts'
import type { Telemetry } from './telemetry-part.ts'

/**
 * The API's connection: a slower command is a fault, because clients must get their 503 within the API's deadline, and
 * at once while Redis is known to be away.
 */
export const API_REDIS = Object.freeze({ name: 'punctual-api', commandTimeoutMs: 1_500, isGuarded: true })
/** An executor may wait longer, and tries again. */
export const EXECUTOR_COMMAND_TIMEOUT_MS = 5_000

export interface Store {
  readonly connection: RedisConnection
  readonly engine: Engine
}

/** How a role reaches its Redis, and what it expects there. */
export interface StoreSettings {
  readonly redisUrl: string
  readonly redisCa: string | null
  readonly shards: number
  readonly allowUnsafeRedis: boolean
  /** Of finished jobs, for who drops them; null = a part of maxmemory. */
  readonly historyBytes?: number | null
}

export interface StoreRole {
  /** The name of the connection in Redis's client list. */
  readonly name: string
  readonly commandTimeoutMs: number
  /** Makes commands fail at once while Redis is known to be away. */
  readonly isGuarded?: boolean
  readonly telemetry: Telemetry
  readonly lifecycle: Lifecycle
}

/** Connects to Redis, checks that it keeps jobs, and opens the engine on it. Throws StartupError. */
export async function openStore(settings: StoreSettings, role: StoreRole): Promise<Store> {
  const { name, commandTimeoutMs } = role
  const { logger, metrics } = role.telemetry
  const { redisUrl: url, redisCa, shards, allowUnsafeRedis: override, historyBytes = null } = settings
  const plain = await connectRedis({ url, redisCa, name, commandTimeoutMs, logger })
  try {
    await checkRedisIsSafe(plain, { override, logger })
    const jobIds = await whenThereIsRoom(openInstallation(plain, shards))
    const guarded = role.isGuarded === true ? guardConnection(plain, { clock: systemClock, logger }) : null
    const connection = guarded?.connection ?? plain
    const runner = createStepRunner({ connection, scripts: loadScripts(), clock: systemClock, metrics })
    role.lifecycle.onStop(`${name} connection`, () => {
      guarded?.stop()
      plain.disconnect()
    })
    return {
      connection,
      engine: createEngine({
        runner,
        jobIds,
        logger,
        metrics,
        retention: { ...DEFAULT_RETENTION, historyBytes },
      }),
    }
  } catch (error) {
    plain.disconnect()
    throw error
  }
}

/** Hears which shards have work, on its own connection: one that subscribes can do nothing else. */
export async function openWakeHints(
  { redisUrl: url, redisCa }: Pick<StoreSettings, 'redisUrl' | 'redisCa'>,
  { telemetry: { logger }, lifecycle }: Pick<StoreRole, 'telemetry' | 'lifecycle'>,
): Promise<WakeHints> {
  const commandTimeoutMs = EXECUTOR_COMMAND_TIMEOUT_MS
  const connection = await connectRedis({ url, redisCa, name: 'punctual-hints', commandTimeoutMs, logger })
  lifecycle.onStop('hint connection', () => connection.disconnect())
  return subscribeToWakeHints(connection)
}
