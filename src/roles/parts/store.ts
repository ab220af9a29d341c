import { StartupError, StoreUnavailableError } from '../../domain/errors.ts'
import type { WakeHints } from '../../ports/jobs.ts'
import { connectRedis, noAnswer, serversOf, type RedisConnection } from '../../redis/client/connection.ts'
import type { RedisPlace } from '../../redis/client/client-options.ts'
import { createEngine, DEFAULT_RETENTION, type Engine } from '../../redis/client/engine.ts'
import { checkRedisIsSafe, openInstallation, whenThereIsRoom } from '../../redis/installation/installation.ts'
import { asStoreFault } from '../../redis/client/faults.ts'
import { readServers } from '../../redis/servers/server-look.ts'
import { guardConnection } from '../../redis/client/guard/guarded-connection.ts'
import { loadScripts } from '../../redis/steps.ts'
import { createStepRunner } from '../../redis/client/step-runner.ts'
import { createAuditLines } from '../../telemetry/audit-lines.ts'
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
  /** Where its servers are at present; see `serversOf`. */
  servers(): readonly string[]
  /** What each primary says of itself. */
  readServers(): ReturnType<typeof readServers>
}

/** The settings that say which Redis it is. */
export interface RedisAccess {
  readonly redisUrl: string
  readonly redisSentinels?: RedisPlace['sentinels']
  readonly redisSentinelPassword?: RedisPlace['sentinelPassword']
  readonly redisCa: string | null
  readonly redisCert?: string | null
  readonly redisKey?: string | null
}

export function placeOf(access: RedisAccess): RedisPlace {
  const { redisUrl: url, redisCa, redisCert = null, redisKey = null } = access
  const { redisSentinels: sentinels = null, redisSentinelPassword: sentinelPassword = null } = access
  return { url, redisCa, redisCert, redisKey, sentinels, sentinelPassword }
}

/** How a role reaches its Redis, and what it expects there. */
export interface StoreSettings extends RedisAccess {
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
  const { shards, allowUnsafeRedis: override, historyBytes = null } = settings
  const plain = await connectRedis({ ...placeOf(settings), name, commandTimeoutMs, logger })
  try {
    await checkRedisIsSafe(plain, { override, logger })
    const jobIds = await whenThereIsRoom(openInstallation(plain, shards))
    const guarded = role.isGuarded === true ? guardConnection(plain, { clock: systemClock, logger }) : null
    const connection = guarded?.connection ?? plain
    const runner = createStepRunner({ connection, scripts: loadScripts(), clock: systemClock, metrics })
    const auditLines = createAuditLines({ clock: systemClock, logger })
    role.lifecycle.onStop(`${name} audit lines`, () => auditLines.stop())
    role.lifecycle.onStop(`${name} connection`, () => {
      guarded?.stop()
      plain.disconnect()
    })
    return {
      connection,
      servers: () => serversOf(plain),
      readServers: () => readServers(plain),
      engine: createEngine({
        runner,
        jobIds,
        logger,
        metrics,
        retention: { ...DEFAULT_RETENTION, historyBytes },
        auditLines,
      }),
    }
  } catch (error) {
    plain.disconnect()
    // Whoever waits for a Redis that does not answer waits for one that falls silent after its first answer, too.
    const isAway = !(error instanceof StartupError) && asStoreFault(error) instanceof StoreUnavailableError
    throw isAway ? noAnswer(settings.redisUrl, error) : error
  }
}

/** Hears which shards have work, on its own connection: one that subscribes can do nothing else. */
export async function openWakeHints(
  settings: RedisAccess,
  { telemetry: { logger }, lifecycle }: Pick<StoreRole, 'telemetry' | 'lifecycle'>,
): Promise<WakeHints> {
  const commandTimeoutMs = EXECUTOR_COMMAND_TIMEOUT_MS
  const connection = await connectRedis({
    ...placeOf(settings),
    name: 'punctual-hints',
    commandTimeoutMs,
    logger,
  })
  lifecycle.onStop('hint connection', () => connection.disconnect())
  return subscribeToWakeHints(connection)
}
