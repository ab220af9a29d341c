import { realpathSync } from 'node:fs'
import { StartupError } from '../../domain/errors.ts'
import type { Clock, Logger } from '../../ports/runtime.ts'
import { pause } from '../../domain/pause.ts'
import { isSameProcess } from '../process-identity.ts'
import { findLiveRedis } from './redis-adoption.ts'
import { findRedisServer } from './redis-binary.ts'
import { fsyncOf, nameOf, renderRedisConfig, urlOf } from './redis-config.ts'
import type { RedisAddress, RedisBounds } from './redis-config.ts'
import { newAddress, rememberedAddress } from './redis-address.ts'
import { configureRedis, probeRedis } from './redis-probe.ts'
import { adoptProcess, lastLogLine, spawnRedis } from './redis-process.ts'
import type { RedisProcess } from './redis-process.ts'

/** Standalone's own Redis. It is restarted whenever it exits, and outlives this process only when that is killed. */
export interface RedisChild {
  /** The path of its socket, or `redis://…` with a password. Stays the same across restarts. */
  readonly url: string
  /** Whether a killed process of ours had left it running. */
  readonly isAdopted: boolean
  /** Null while it is being restarted. */
  pid(): number | null
  /** Terminates it and resolves when it is gone. Call it last. Idempotent. */
  stop(): Promise<void>
}

/** It exited or could not be restarted; a restart follows. */
export interface RedisExit {
  readonly reason: string
  readonly restartInMs: number
}

export interface RedisChildOptions extends RedisBounds {
  /** Folder that exists and is locked by this process (see the data folder). */
  readonly folder: string
  readonly clock: Clock
  readonly logger: Logger
  readonly onExit?: (exit: RedisExit) => void
  /** Aborts the start; only a Redis that ran before is left running. */
  readonly signal?: AbortSignal
  /** Names or paths of server programs to try; by default `redis-server`, then `valkey-server`. */
  readonly servers?: readonly string[]
}

const PROBE_TIMEOUT_MS = 2_000
const PROBE_INTERVAL_MS = 20
/** Time for it to listen. Loading its data afterwards has no limit. */
const LISTEN_MS_MAX = 15_000
const LOADING_NOTE_MS = 5_000
const RESTART_MS_MIN = 100
const RESTART_MS_MAX = 5_000
/** An exit after running this long is not a failure to start. */
const STEADY_MS = 60_000

/**
 * Starts a Redis for the folder, or adopts the one that still runs there. Resolves once its data is loaded.
 * @throws StartupError when no server program is installed, or it does not start
 */
export async function startRedisChild(options: RedisChildOptions): Promise<RedisChild> {
  const folder = realpathSync(options.folder)
  const known = rememberedAddress(folder)
  const live = known === null ? null : await findLiveRedis(folder, known, options.clock)
  const stopping = new AbortController()
  const signal = AbortSignal.any([stopping.signal, ...(options.signal === undefined ? [] : [options.signal])])
  if (known !== null && live !== null) {
    const start = { ...options, folder, address: known, signal }
    const adopted = await adopt(adoptProcess(live, options.clock), start)
    return supervise(adopted ?? (await launch(start)), start, stopping, adopted !== null)
  }
  const start = { ...options, folder, address: await newAddress(folder), signal }
  return supervise(await launch(start), start, stopping, false)
}

interface StartOptions extends RedisChildOptions {
  readonly address: RedisAddress
  readonly signal: AbortSignal
}

/** Null when it has exited meanwhile: our last process was killed while it stopped it. */
async function adopt(found: RedisProcess, options: StartOptions): Promise<RedisProcess | null> {
  try {
    await untilReady(found, options)
    await configureRedis(urlOf(options.address), PROBE_TIMEOUT_MS, adoptedSettings(options))
  } catch (error) {
    found.forget()
    if (isSameProcess(found.identity)) throw error
    return null
  }
  options.logger.info('Redis was still running and is adopted', { pid: found.identity.pid })
  return found
}

async function launch(options: StartOptions): Promise<RedisProcess> {
  const { clock, folder, logger, address } = options
  const server = await findRedisServer(options.servers)
  const config = renderRedisConfig(folder, address, options)
  const started = await spawnRedis(server, folder, config, clock)
  try {
    await untilReady(started, options)
  } catch (error) {
    await started.terminate()
    throw error
  }
  logger.info('Redis started', { pid: started.identity.pid, at: nameOf(address) })
  return started
}

/** Keeps a Redis running until it is stopped. */
function supervise(
  first: RedisProcess,
  options: StartOptions,
  stopping: AbortController,
  isAdopted: boolean,
): RedisChild {
  const { clock } = options
  let running: RedisProcess | null = first
  const watch = async (): Promise<void> => {
    let failures = 0
    for (let redis = running; redis !== null; redis = running) {
      const sinceMs = clock.monotonicMs()
      let reason: string | null = await redis.ended
      running = null
      if (clock.monotonicMs() - sinceMs >= STEADY_MS) failures = 0
      while (reason !== null && !stopping.signal.aborted) {
        const restartInMs = Math.min(RESTART_MS_MIN * 2 ** failures, RESTART_MS_MAX)
        failures += 1
        options.logger.error('Redis exited and is restarted', { reason, restartInMs })
        options.onExit?.({ reason, restartInMs })
        await pause(clock, restartInMs, stopping.signal)
        if (stopping.signal.aborted) return
        const next = await launchOrReason({ ...options, signal: stopping.signal })
        reason = typeof next === 'string' ? next : null
        running = typeof next === 'string' ? null : next
        if (stopping.signal.aborted) await running?.terminate()
      }
    }
  }
  const watched = watch()
  return {
    url: urlOf(options.address),
    isAdopted,
    pid: () => running?.identity.pid ?? null,
    stop: async () => {
      stopping.abort()
      await running?.terminate()
      await watched
    },
  }
}

/** The process, or why it could not be started. */
async function launchOrReason(options: StartOptions): Promise<RedisProcess | string> {
  try {
    return await launch(options)
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** Settings that an adopted Redis may lack: our last process had others, or somebody changed them. */
function adoptedSettings({ maxmemoryBytes, durability }: RedisBounds): Record<string, string> {
  return {
    maxmemory: String(maxmemoryBytes),
    'maxmemory-policy': 'noeviction',
    appendfsync: fsyncOf(durability),
    appendonly: 'yes',
  }
}

/** @throws StartupError when it exits, or does not listen in time */
async function untilReady(redis: RedisProcess, options: StartOptions): Promise<void> {
  const { clock, folder, logger, address, signal } = options
  const listenByMs = clock.monotonicMs() + LISTEN_MS_MAX
  let noteAtMs = clock.monotonicMs()
  let ended: string | null = null
  void redis.ended.then((reason) => void (ended = reason))
  while (!signal.aborted) {
    const probe = await probeRedis(urlOf(address), PROBE_TIMEOUT_MS)
    if (ended !== null) throw new StartupError(deathText(folder, ended))
    const isOurs = 'pid' in probe && probe.pid === redis.identity.pid
    if (isOurs && probe.state === 'ready') return
    if (isOurs && clock.monotonicMs() >= noteAtMs) {
      logger.info('Redis is loading its data')
      noteAtMs = clock.monotonicMs() + LOADING_NOTE_MS
    }
    if (!isOurs && clock.monotonicMs() > listenByMs) {
      throw new StartupError(`Redis does not answer at ${nameOf(address)}: see ${folder}/redis.log.`)
    }
    await pause(clock, PROBE_INTERVAL_MS, signal)
  }
  throw new StartupError('The start of Redis was aborted because the program ends.')
}

function deathText(folder: string, ended: string): string {
  const line = lastLogLine(folder)
  const said = line === null ? '' : `: ${line.replace(/[.\s]+$/, '')}`
  return `Redis ended at its start with ${ended}${said}. See ${folder}/redis.log.`
}
