import type { Logger } from '../ports/logger.ts'

/**
 * What a role has started, stopped in reverse order. A stop that fails is logged and the others go on; `stop` may be
 * called again and answers when everything is at rest.
 */
export interface Lifecycle {
  /** Notes how to stop what was just started. */
  onStop(name: string, stop: () => unknown): void
  stop(): Promise<void>
  /** Ends the role from within: everything stops, and the process ends with this as its reason. */
  fail(error: Error): void
  /** Whether the end has begun, also while the role still starts. */
  isStopping(): boolean
}

export function createLifecycle(
  logger: Logger,
  { signal, fail }: { signal: AbortSignal; fail(error: Error): void },
): Lifecycle {
  const stops: Array<{ name: string; stop: () => unknown }> = []
  let stopping: Promise<void> | null = null

  async function stopAll(): Promise<void> {
    for (const { name, stop } of stops.reverse()) {
      try {
        await stop()
      } catch (error) {
        logger.error('A part did not stop cleanly', { part: name, reason: String(error) })
      }
    }
  }

  return {
    onStop: (name, stop) => {
      stops.push({ name, stop })
    },
    stop: () => (stopping ??= stopAll()),
    fail,
    isStopping: () => signal.aborted || stopping !== null,
  }
}

/**
 * Starts a role, runs it until SIGINT or SIGTERM or until it fails, and stops it. A start that fails stops what had
 * started. A second signal ends the process at once. @throws what the role failed with
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
  let signals = 0
  const onSignal = (name: NodeJS.Signals): void => {
    signals += 1
    if (signals > 1) process.exit(1)
    logger.info('Stopping: no new work is taken, running calls get a moment', { signal: name })
    stopping.abort()
    ended.resolve()
  }
  process.on('SIGINT', onSignal)
  process.on('SIGTERM', onSignal)
  try {
    await startUnlessStopped(start(lifecycle, stopping.signal), stopping.signal)
    await ended.promise
  } finally {
    await lifecycle.stop()
    process.off('SIGINT', onSignal)
    process.off('SIGTERM', onSignal)
  }
  logger.info('Stopped')
}

/** What the end breaks of a start under way is no failure of its own. */
async function startUnlessStopped(starting: Promise<void>, signal: AbortSignal): Promise<void> {
  try {
    await starting
  } catch (error) {
    if (!signal.aborted) throw error
  }
}
