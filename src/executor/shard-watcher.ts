import type { Clock } from '../ports/clock.ts'
import type { ShardUpkeep } from '../ports/job-source.ts'
import type { Logger } from '../ports/logger.ts'
import { createSignal } from './signal.ts'

/**
 * Watches one shard: promotes delayed jobs the moment they are due, and looks now and then whether something can be
 * claimed that no hint told of. Owns: when the next delayed job is due, as last seen.
 */
export interface ShardWatcher {
  start(): void
  /** Resolves when the loop is at rest. */
  stop(): Promise<void>
  /** A claim saw this due time. */
  noteNextDue(nextDueMs: number | null): void
}

/** A look costs three small reads; a delay is at least 1 s, so none falls between two looks. */
const LOOK_MS = 500
const RETRY_MS = 200

export function createShardWatcher(options: {
  upkeep: ShardUpkeep
  clock: Clock
  logger: Logger
  redisNowMs(): number
  /** There is something to claim. */
  onRunnable(): void
}): ShardWatcher {
  const { upkeep, clock, logger, redisNowMs } = options
  const awake = createSignal(clock)
  let nextDueMs: number | null = null
  let isStopped = false
  let loop: Promise<void> = Promise.resolve()

  function untilDue(): number {
    return nextDueMs === null ? LOOK_MS : Math.min(LOOK_MS, Math.max(0, nextDueMs - redisNowMs()))
  }

  async function step(): Promise<void> {
    if (nextDueMs !== null && nextDueMs <= redisNowMs()) {
      const { moved, nextDueMs: next } = await upkeep.promote()
      nextDueMs = next
      if (moved > 0) options.onRunnable()
      return
    }
    const glance = await upkeep.glance()
    nextDueMs = glance.nextDueMs
    if (glance.runnable) options.onRunnable()
  }

  async function run(): Promise<void> {
    while (!isStopped) {
      try {
        await step()
      } catch (error) {
        logger.debug('A shard could not be looked at', {
          shard: upkeep.shard,
          reason: (error as Error).message,
        })
        await awake.wait(RETRY_MS)
      }
      if (!isStopped) await awake.wait(untilDue())
    }
  }

  return {
    start: () => {
      loop = run()
    },
    stop: async () => {
      isStopped = true
      awake.notify()
      await loop
    },
    noteNextDue: (seenMs) => {
      if (seenMs === null || (nextDueMs !== null && nextDueMs <= seenMs)) return
      nextDueMs = seenMs
      awake.notify()
    },
  }
}
