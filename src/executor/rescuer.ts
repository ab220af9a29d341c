import type { Clock } from '../ports/clock.ts'
import type { ShardUpkeep } from '../ports/job-source.ts'
import type { Logger } from '../ports/logger.ts'
import { createSignal } from './signal.ts'

/**
 * Takes jobs back from lost executors and sweeps what is past its time, one shard after another. Every executor runs
 * one; several at once do no harm.
 */
export interface Rescuer {
  start(): void
  /** Resolves when the loop is at rest. */
  stop(): Promise<void>
}

const REAP_EVERY_MS = 2_000
const SWEEP_EVERY_MS = 10_000
/** While a sweep finds more to do it goes on after this pause, so that it never holds Redis for long. */
const SWEEP_PAUSE_MS = 50

export function createRescuer(options: {
  upkeeps: readonly ShardUpkeep[]
  clock: Clock
  logger: Logger
  /** 0–1; spreads the executors' rounds. */
  random(): number
  onReaped(shard: number): void
}): Rescuer {
  const { upkeeps, clock, logger } = options
  const awake = createSignal(clock)
  let isStopped = false
  let loop: Promise<void> = Promise.resolve()

  async function attempt<T>(what: string, shard: number, run: () => Promise<T>): Promise<T | null> {
    try {
      return await run()
    } catch (error) {
      logger.debug('Upkeep of a shard failed; it is tried again', {
        what,
        shard,
        reason: (error as Error).message,
      })
      return null
    }
  }

  async function reapAll(): Promise<void> {
    for (const upkeep of upkeeps) {
      const reaped = await attempt('reap', upkeep.shard, () => upkeep.reap())
      if (reaped !== null && reaped.jobs > 0) options.onReaped(upkeep.shard)
    }
  }

  /** Answers whether a shard has more to sweep at once. */
  async function sweepAll(): Promise<boolean> {
    let isMore = false
    for (const upkeep of upkeeps) {
      const swept = await attempt('sweep', upkeep.shard, () => upkeep.sweep())
      isMore ||= swept?.isMore ?? false
    }
    return isMore
  }

  async function run(): Promise<void> {
    let sweepAtMs = clock.monotonicMs() + SWEEP_EVERY_MS * options.random()
    await awake.wait(REAP_EVERY_MS * options.random())
    while (!isStopped) {
      await reapAll()
      if (clock.monotonicMs() >= sweepAtMs) {
        const isMore = await sweepAll()
        sweepAtMs = clock.monotonicMs() + (isMore ? SWEEP_PAUSE_MS : SWEEP_EVERY_MS)
      }
      if (!isStopped) await awake.wait(Math.min(REAP_EVERY_MS, Math.max(0, sweepAtMs - clock.monotonicMs())))
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
  }
}
