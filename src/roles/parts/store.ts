import type { Durability } from '../../domain/jobs/durability.ts'
import { StartupError, StoreUnavailableError } from '../../domain/errors.ts'
import type { WakeHints } from '../../ports/jobs.ts'
import {
  connectClient,
  connectRedis,
  noAnswer,
  serversOf,
  type RedisConnection,
} from '../../redis/base/client/connection.ts'
import type { ConnectionOptions, RedisEndpoint } from '../../redis/base/client/client-options.ts'
import { createEngine, DEFAULT_RETENTION, type Engine } from '../../redis/base/engine/engine.ts'
import {
  checkRedisIsSafe,
  openInstallation,
  whenThereIsRoom,
} from '../../redis/base/installation/installation.ts'
import { byTestClock, RedisTestClock } from '../../redis/base/installation/test-clock.ts'
import { asStoreFault } from '../../redis/base/client/faults.ts'
import { readServers } from '../../redis/base/installation/server-look.ts'
import { Confirmation } from '../../redis/base/durability/confirmation.ts'
import { checkDurability } from '../../redis/base/durability/durability-check.ts'
import { guardConnection } from '../../redis/base/client/guarded-connection.ts'
import { ACCEPTING_STEPS, loadScripts } from '../../redis/steps.ts'
import { noteTime } from '../../redis/upkeep/maintenance/promotion.ts'
import { createStepRunner, type StepConfirmation } from '../../redis/base/engine/step-runner.ts'
import { createAuditLines } from '../../telemetry/audit-lines.ts'
import { systemClock } from '../../telemetry/system-clock.ts'
import { subscribeToWakeHints } from '../../redis/base/client/wake-hints.ts'
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
  /** null = the installation goes by the clock of Redis. */
  readonly testClock: RedisTestClock | null
  /** Servers it is connected to at present; see `serversOf`. */
  servers(): readonly string[]
  /** Reads what each primary reports about itself. */
  readServers(): ReturnType<typeof readServers>
}

/** The settings that say which Redis it is. */
export interface RedisAccess {
  readonly redisUrl: string
  readonly redisSentinels?: RedisEndpoint['sentinels']
  readonly redisSentinelPassword?: RedisEndpoint['sentinelPassword']
  readonly redisCa: string | null
  readonly redisCert?: string | null
  readonly redisKey?: string | null
}

export function endpointOf(access: RedisAccess): RedisEndpoint {
  const { redisUrl: url, redisCa, redisCert = null, redisKey = null } = access
  const { redisSentinels: sentinels = null, redisSentinelPassword: sentinelPassword = null } = access
  return { url, redisCa, redisCert, redisKey, sentinels, sentinelPassword }
}

/** How a role reaches its Redis, and what it expects there. */
export interface StoreSettings extends RedisAccess {
  readonly shards: number
  readonly allowUnsafeRedis: boolean
  /** Bytes of finished jobs, for the role that drops them; null = a part of maxmemory. */
  readonly historyBytes?: number | null
  /** Whether the installation goes by a test clock; no when absent. */
  readonly testClock?: boolean
}

export interface StoreRole {
  /** The name of the connection in Redis's client list. */
  readonly name: string
  readonly commandTimeoutMs: number
  /** Makes commands fail at once while Redis is known to be away. */
  readonly isGuarded?: boolean
  /** What the role promises of the jobs it accepts; absent = it accepts none. */
  readonly durability?: Durability
  /** The test clock of another store of this process, which both then go by. */
  readonly testClock?: RedisTestClock | null
  readonly telemetry: Telemetry
  readonly lifecycle: Lifecycle
}

/** Connects to Redis, checks that it keeps jobs, and opens the engine on it. Throws StartupError. */
export async function openStore(settings: StoreSettings, role: StoreRole): Promise<Store> {
  const { name } = role
  const { logger, metrics } = role.telemetry
  const { shards, allowUnsafeRedis: override, historyBytes = null, testClock: isForTests = false } = settings
  const plain = await connectRedis(connectionOptions(settings, role))
  try {
    await checkRedisIsSafe(plain, { override, logger })
    await checkDurability(plain, role.durability ?? 'relaxed', logger)
    const jobIds = await whenThereIsRoom(openInstallation(plain, shards, isForTests))
    const guarded = role.isGuarded === true ? guardConnection(plain, { clock: systemClock, logger }) : null
    const connection = guarded?.connection ?? plain
    const confirmation = role.durability === 'replicated' ? await openConfirmation(settings, role) : null
    const testClock = isForTests ? (role.testClock ?? (await openTestClock(plain, role))) : null
    const runner = createStepRunner({
      connection,
      scripts: testClock === null ? loadScripts() : loadScripts(byTestClock),
      clock: testClock?.ahead(systemClock) ?? systemClock,
      metrics,
      ...(confirmation !== null && { confirmation }),
    })
    const auditLines = createAuditLines({ clock: systemClock, logger })
    role.lifecycle.onStop(`${name} audit lines`, () => auditLines.stop())
    role.lifecycle.onStop(`${name} connection`, () => {
      guarded?.stop()
      plain.disconnect()
    })
    const engine = createEngine({
      runner,
      jobIds,
      logger,
      metrics,
      retention: { ...DEFAULT_RETENTION, historyBytes },
      auditLines,
      isForTests,
    })
    testClock?.follow(engine, (keys) => noteTime(engine, keys))
    return {
      connection,
      testClock,
      servers: () => serversOf(plain),
      readServers: () => readServers(plain),
      engine,
    }
  } catch (error) {
    plain.disconnect()
    // Whoever waits for a Redis that does not answer waits for one that falls silent after its first answer, too.
    const isAway = !(error instanceof StartupError) && asStoreFault(error) instanceof StoreUnavailableError
    throw isAway ? noAnswer(settings.redisUrl, error) : error
  }
}

/** Other processes of the installation may move the time, too. */
async function openTestClock(
  connection: RedisConnection,
  { name, lifecycle }: StoreRole,
): Promise<RedisTestClock> {
  const testClock = await RedisTestClock.open(connection)
  lifecycle.onStop(`${name} test clock`, async () => testClock.stop())
  testClock.start(systemClock)
  return testClock
}

function connectionOptions(
  settings: RedisAccess,
  { name, commandTimeoutMs, telemetry: { logger } }: StoreRole,
): ConnectionOptions {
  return { ...endpointOf(settings), name, commandTimeoutMs, clock: systemClock, logger }
}

/** Confirms what is accepted, on a connection of its own: a WAIT holds up whatever comes behind it. */
async function openConfirmation(settings: StoreSettings, role: StoreRole): Promise<StepConfirmation> {
  const { logger } = role.telemetry
  const name = `${role.name}-accepts`
  const { client: plain, isSettled } = await connectClient(connectionOptions(settings, { ...role, name }))
  const guarded = guardConnection(plain, { clock: systemClock, logger })
  const confirmation = new Confirmation({
    connection: guarded.connection,
    clock: systemClock,
    hasSentinels: isSettled !== null,
    isSettled: isSettled ?? (() => Promise.resolve(false)),
  })
  const stop = (): void => {
    confirmation.stop()
    guarded.stop()
    plain.disconnect()
  }
  try {
    await confirmation.start()
  } catch (error) {
    stop()
    throw error
  }
  role.lifecycle.onStop(`${name} connection`, stop)
  return { steps: ACCEPTING_STEPS, confirmed: (send) => confirmation.confirmed(send) }
}

/** Hears which shards have work, on its own connection: one that subscribes can do nothing else. */
export async function openWakeHints(
  settings: RedisAccess,
  { telemetry: { logger }, lifecycle }: Pick<StoreRole, 'telemetry' | 'lifecycle'>,
): Promise<WakeHints> {
  const connection = await connectRedis({
    ...endpointOf(settings),
    name: 'punctual-hints',
    commandTimeoutMs: EXECUTOR_COMMAND_TIMEOUT_MS,
    clock: systemClock,
    logger,
  })
  lifecycle.onStop('hint connection', () => connection.disconnect())
  return subscribeToWakeHints(connection)
}
