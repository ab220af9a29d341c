import type { Logger } from '../ports/logger.ts'

/**
 * What a role has started, stopped in reverse order. A stop that fails is logged and the others go on; `stop` may be
 * called again and answers when everything is at rest.
 */
export interface Lifecycle {
  /** Notes how to stop what was just started. */
  onStop(name: string, stop: () => unknown): void
  stop(): Promise<void>
  /** Whether the end has begun, also while the role still starts. */
  isStopping(): boolean
}

export function createLifecycle(logger: Logger, signal: AbortSignal): Lifecycle {
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
    isStopping: () => signal.aborted || stopping !== null,
  }
}

/**
 * Starts a role, runs it until SIGINT or SIGTERM, and stops it. A start that fails stops what had started. A second
 * signal ends the process at once.
 */
export async function runUntilSignalled(
  logger: Logger,
  start: (lifecycle: Lifecycle, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const stopping = new AbortController()
  const lifecycle = createLifecycle(logger, stopping.signal)
  let signals = 0
  let tellSignalled: () => void = () => undefined
  const signalled = new Promise<void>((resolve) => {
    tellSignalled = resolve
  })
  const onSignal = (name: NodeJS.Signals): void => {
    signals += 1
    if (signals > 1) process.exit(1)
    logger.info('Stopping: no new work is taken, running calls get a moment', { signal: name })
    stopping.abort()
    tellSignalled()
  }
  process.on('SIGINT', onSignal)
  process.on('SIGTERM', onSignal)
  try {
    await start(lifecycle, stopping.signal)
    await signalled
  } finally {
    await lifecycle.stop()
    process.off('SIGINT', onSignal)
    process.off('SIGTERM', onSignal)
  }
  logger.info('Stopped')
}
