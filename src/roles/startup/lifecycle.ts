import type { Logger } from '../../ports/runtime.ts'
import { systemClock } from '../../telemetry/system-clock.ts'
import { heedStopSignals, type StopSignal } from './stop-signals.ts'

/**
 * What a role has started, stopped in reverse order. A stop that fails is logged and the others go on; `stop` may be
 * called again and answers when everything is at rest.
 */
export interface Lifecycle {
  /** Notes how to stop what was just started. */
  onStop(name: string, stop: () => unknown): void
  /** As `onStop`, and a forced end does it too: for what would outlive the process. `stop` may be called twice. */
  onEveryEnd(name: string, stop: () => unknown): void
  stop(): Promise<void>
  /** Stops no more than what would outlive the process; beside a `stop` that takes too long. */
  stopByForce(): Promise<void>
  /** Ends the role from within: everything stops, and the process ends with this as its reason. */
  fail(error: Error): void
  /** Whether the end has begun, also while the role still starts. */
  isStopping(): boolean
}

export function createLifecycle(
  logger: Logger,
  { signal, fail }: { signal: AbortSignal; fail(error: Error): void },
): Lifecycle {
  const stops: Stop[] = []
  const outliving: Stop[] = []
  let stopping: Promise<void> | null = null

  /** The last comes first; what is noted meanwhile is stopped too. */
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
 * Starts a role, runs it until SIGINT or SIGTERM or until it fails, and stops it. A start that fails stops what had
 * started. Who signals again because it takes too long (see stop-signals) ends the process with code 1.
 * @throws what the role failed with
 */
export async function runUntilSignalled(
  logger: Logger,
  start: (lifecycle: Lifecycle, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const stopping = new AbortController()
  const ended = Promise.withResolvers<void>()
  // A role may fail while it starts, when nobody waits for its end yet.
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
  logger.warn('The end is forced: calls under way are cut, to be made again', { signal })
  await lifecycle.stopByForce()
  process.exit(1)
}

/** What the end breaks of a start under way is no failure of its own. */
async function startUnlessStopped(starting: Promise<void>, signal: AbortSignal): Promise<void> {
  try {
    await starting
  } catch (error) {
    if (!signal.aborted) throw error
  }
}
