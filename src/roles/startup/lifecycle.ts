import { RoleEndedError, StartupError, StoreUnavailableError } from '../../domain/errors.ts'
import type { Logger } from '../../ports/runtime.ts'
import { asStoreFault, lacksRight } from '../../redis/base/client/faults.ts'
import { systemClock } from '../../telemetry/system-clock.ts'
import { heedStopSignals, type StopSignal } from './stop-signals.ts'

/**
 * Owns the stops of everything that a role has started, and runs them in reverse order. A stop that fails is logged,
 * and the others go on. `stop` is idempotent and resolves when everything is at rest.
 */
export interface Lifecycle {
  /** Registers how to stop what was just started. */
  onStop(name: string, stop: () => unknown): void
  /**
   * Registers a stop for what would outlive the process: like `onStop`, but it also runs at a forced end. `stop` must
   * be idempotent.
   */
  onEveryEnd(name: string, stop: () => unknown): void
  stop(): Promise<void>
  /** Stops only what would outlive the process, while a `stop` takes too long. */
  stopByForce(): Promise<void>
  /** Stops the role because of this error, which becomes the reason why the process ends. */
  fail(error: Error): void
  /** Whether the role stops, even while it still starts. */
  isStopping(): boolean
}

export function createLifecycle(
  logger: Logger,
  { signal, fail }: { signal: AbortSignal; fail(error: Error): void },
): Lifecycle {
  const stops: Stop[] = []
  const outliving: Stop[] = []
  let stopping: Promise<void> | null = null

  /** Stops in reverse order, including stops that are registered meanwhile. */
  async function stopEach(parts: Stop[]): Promise<void> {
    for (let next = parts.pop(); next !== undefined; next = parts.pop()) {
      try {
        await next.stop()
      } catch (error) {
        logger.error('A part did not stop cleanly', { part: next.name, reason: String(error) })
      }
    }
  }

  return {
    onStop: (name, stop) => {
      stops.push({ name, stop })
    },
    onEveryEnd: (name, stop) => {
      stops.push({ name, stop })
      outliving.push({ name, stop })
    },
    stop: () => (stopping ??= stopEach(stops)),
    stopByForce: () => stopEach(outliving),
    fail,
    isStopping: () => signal.aborted || stopping !== null,
  }
}

interface Stop {
  readonly name: string
  readonly stop: () => unknown
}

/**
 * Starts a role, runs it until SIGINT, SIGTERM or a failure, and stops it. A start that fails stops what it had
 * started. A second signal (see stop-signals) forces the end, with code 1.
 * @throws the error that the role failed with
 */
export async function runUntilSignalled(
  logger: Logger,
  start: (lifecycle: Lifecycle, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const stopping = new AbortController()
  const ended = Promise.withResolvers<void>()
  // A role may fail while it starts, before anybody awaits `ended`.
  ended.promise.catch(() => undefined)
  const fail = (error: Error): void => {
    logger.error('The role ends', { reason: error.message })
    stopping.abort()
    ended.reject(error)
  }
  const lifecycle = createLifecycle(logger, { signal: stopping.signal, fail })
  heedStopSignals(process, systemClock, {
    stop: (name) => {
      logger.info('Stopping: no new work is taken, running calls get a moment', { signal: name })
      stopping.abort()
      ended.resolve()
    },
    force: (name) => void endByForce(name, lifecycle, logger),
  })
  try {
    await startUnlessStopped(start(lifecycle, stopping.signal), stopping.signal)
    await ended.promise
  } finally {
    await lifecycle.stop()
  }
  logger.info('Stopped')
}

async function endByForce(signal: StopSignal, lifecycle: Lifecycle, logger: Logger): Promise<void> {
  logger.warn('Stopping at once: running calls are cut, and made again later', { signal })
  await lifecycle.stopByForce()
  process.exit(1)
}

/** An error of a start that a stop has interrupted is no failure. */
async function startUnlessStopped(starting: Promise<void>, signal: AbortSignal): Promise<void> {
  try {
    await starting
  } catch (error) {
    if (!signal.aborted) throw asStartFault(error)
  }
}

/** Redis may fall silent or refuse at any read of a start; whoever started the role gets one line that says so. */
function asStartFault(error: unknown): unknown {
  const isPlain = error instanceof Error && !('code' in error)
  if (isPlain && lacksRight(error))
    return new StartupError(
      `Redis refuses what this role needs: ${error.message}. Give its user what docs/install.md gives to it ("Users of Redis").`,
      { cause: error },
    )
  const fault = isPlain ? asStoreFault(error) : error
  if (!(fault instanceof StoreUnavailableError)) return error
  const reason = fault.message.replace(/\.$/, '')
  return new RoleEndedError(
    `The role could not start: ${reason}. Start Redis, or set PUNCTUAL_REDIS_URL, and start the role again.`,
    { cause: error },
  )
}
