import { realpathSync } from 'node:fs'
import { StartupError } from '../../domain/errors.ts'
import type { Clock, Logger } from '../../ports/runtime.ts'
import { pause } from '../../domain/pause.ts'
import { isSameProcess } from '../process-identity.ts'
import { findLiveRedis } from './redis-adoption.ts'
import { findRedisServer } from './redis-binary.ts'
import { nameOf, renderRedisConfig, urlOf } from './redis-config.ts'
import type { RedisPlace } from './redis-config.ts'
import { newPlace, rememberedPlace } from './redis-address.ts'
import { configureRedis, probeRedis } from './redis-probe.ts'
import { adoptProcess, lastLogLine, spawnRedis } from './redis-process.ts'
import type { RedisProcess } from './redis-process.ts'

/** Standalone's own Redis. It is restarted whenever it ends by itself, and outlives us only when we are killed. */
export interface RedisChild {
  /** The path of its socket, or `redis://…` with a password. The same for as long as this process runs. */
  readonly url: string
  /** Whether it was found running, left by a process of ours that was killed. */
  readonly isAdopted: boolean
  /** Null while it is being restarted. */
  pid(): number | null
  /** Ends it for good and resolves when it is gone. Call it last. May be called twice. */
  stop(): Promise<void>
}

/** It ended, or could not be started again; another start follows. */
export interface RedisExit {
  readonly reason: string
  readonly restartInMs: number
}

export interface RedisChildOptions {
  /** Must exist; held by nobody else (see the data folder's lock). */
  readonly folder: string
  readonly maxmemoryBytes: number
  readonly clock: Clock
  readonly logger: Logger
  readonly onExit?: (exit: RedisExit) => void
  /** Gives the start up: nothing of it is left running but a Redis that ran before. */
  readonly signal?: AbortSignal
  /** Names or paths of server programs to try; `redis-server`, then `valkey-server` unless given. */
  readonly servers?: readonly string[]
}

const PROBE_TIMEOUT_MS = 2_000
const PROBE_INTERVAL_MS = 20
/** Until it listens. Loading its data may then take as long as it takes. */
const LISTEN_MS_MAX = 15_000
const LOADING_NOTE_MS = 5_000
const RESTART_MS_MIN = 100
const RESTART_MS_MAX = 5_000
/** One that ran this long and ended is not one that cannot run. */
const STEADY_MS = 60_000

/**
 * Starts a Redis for the folder, or takes over the one that still runs there. Resolves once it answers, its data
 * loaded.
 * @throws StartupError when no server program is installed, or it does not start
 */
export async function startRedisChild(options: RedisChildOptions): Promise<RedisChild> {
  const folder = realpathSync(options.folder)
  const known = rememberedPlace(folder)
  const live = known === null ? null : await findLiveRedis(folder, known, options.clock)
  const stopping = new AbortController()
  const signal = AbortSignal.any([stopping.signal, ...(options.signal === undefined ? [] : [options.signal])])
  if (known !== null && live !== null) {
    const start = { ...options, folder, place: known, signal }
    const adopted = await adopt(adoptProcess(live, options.clock), start)
    return supervise(adopted ?? (await launch(start)), start, stopping, adopted !== null)
  }
  const start = { ...options, folder, place: await newPlace(folder), signal }
  return supervise(await launch(start), start, stopping, false)
}

interface StartOptions extends RedisChildOptions {
  readonly place: RedisPlace
  readonly signal: AbortSignal
}

/** Null when it ended meanwhile: our last process was killed while it stopped it. */
async function adopt(found: RedisProcess, options: StartOptions): Promise<RedisProcess | null> {
  try {
    await untilReady(found, options)
    await configureRedis(urlOf(options.place), PROBE_TIMEOUT_MS, adoptedSettings(options.maxmemoryBytes))
  } catch (error) {
    found.forget()
    if (isSameProcess(found.identity)) throw error
    return null
  }
  options.logger.info('Redis was still running and is used again', { pid: found.identity.pid })
  return found
}

async function launch(options: StartOptions): Promise<RedisProcess> {
  const { clock, folder, logger, place } = options
  const server = await findRedisServer(options.servers)
  const config = renderRedisConfig(folder, place, options.maxmemoryBytes)
  const started = await spawnRedis(server, folder, config, clock)
  try {
    await untilReady(started, options)
  } catch (error) {
    await started.terminate()
    throw error
  }
  logger.info('Redis started', { pid: started.identity.pid, at: nameOf(place) })
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
        options.logger.error('Redis ended by itself and is started again', { reason, restartInMs })
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
    url: urlOf(options.place),
    isAdopted,
    pid: () => running?.identity.pid ?? null,
    stop: async () => {
      stopping.abort()
      await running?.terminate()
      await watched
    },
  }
}

/** What runs, or why it does not. */
async function launchOrReason(options: StartOptions): Promise<RedisProcess | string> {
  try {
    return await launch(options)
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** What an adopted one may have had otherwise: our last process ran with other settings, or somebody played with it. */
function adoptedSettings(maxmemoryBytes: number): Record<string, string> {
  return {
    maxmemory: String(maxmemoryBytes),
    'maxmemory-policy': 'noeviction',
    appendfsync: 'everysec',
    appendonly: 'yes',
  }
}

/** @throws StartupError when it ends, or does not listen in time */
async function untilReady(redis: RedisProcess, options: StartOptions): Promise<void> {
  const { clock, folder, logger, place, signal } = options
  const listenByMs = clock.monotonicMs() + LISTEN_MS_MAX
  let noteAtMs = clock.monotonicMs()
  let ended: string | null = null
  void redis.ended.then((reason) => void (ended = reason))
  while (!signal.aborted) {
    const probe = await probeRedis(urlOf(place), PROBE_TIMEOUT_MS)
    if (ended !== null) throw new StartupError(deathText(folder, ended))
    const isOurs = 'pid' in probe && probe.pid === redis.identity.pid
    if (isOurs && probe.state === 'ready') return
    if (isOurs && clock.monotonicMs() >= noteAtMs) {
      logger.info('Redis is loading its data')
      noteAtMs = clock.monotonicMs() + LOADING_NOTE_MS
    }
    if (!isOurs && clock.monotonicMs() > listenByMs) {
      throw new StartupError(`Redis does not answer at ${nameOf(place)}: see ${folder}/redis.log.`)
    }
    await pause(clock, PROBE_INTERVAL_MS, signal)
  }
  throw new StartupError('The start of Redis was given up: the program ends.')
}

function deathText(folder: string, ended: string): string {
  const line = lastLogLine(folder)
  const said = line === null ? '' : `: ${line.replace(/[.\s]+$/, '')}`
  return `Redis ended at its start with ${ended}${said}. See ${folder}/redis.log.`
}
