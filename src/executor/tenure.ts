import type { Clock } from '../ports/clock.ts'
import type { JobSource } from '../ports/job-source.ts'
import type { Logger } from '../ports/logger.ts'
import type { Metrics } from '../ports/metrics.ts'
import type { CallRunner } from './call-runner.ts'
import type { JobPool } from './job-pool.ts'
import { createShardSession, type ShardSession } from './shard-session.ts'

/**
 * One executor id's time in all shards, from its leases to their end. A lease lost in one shard ends the tenure in
 * all: whoever froze long enough to lose one cannot trust the others. The executor then begins a new one.
 */
export interface Tenure {
  /** Makes the leases; throws StoreUnavailableError. */
  start(): Promise<void>
  wake(shard: number): void
  slotFreed(): void
  onNextDue(listener: (shard: number, nextDueMs: number | null) => void): void
  /** Resolves when a lease was lost and every call has been cut. */
  readonly lost: Promise<void>
  /** Claims no more; calls get `graceMs` to end, the rest is cut and given back. */
  stop(graceMs: number): Promise<void>
  /** Gives back what Redis still says this tenure holds; best effort. */
  leave(): Promise<void>
}

/** After the calls are cut, Redis has this long to take their ends. */
const WRITE_GRACE_MS = 3_000

export function createTenure(options: {
  sources: readonly JobSource[]
  pool: JobPool
  runner: CallRunner
  clock: Clock
  logger: Logger
  metrics: Metrics
  isPaused(): boolean
}): Tenure {
  const { clock, logger, metrics } = options
  const calls = new AbortController()
  let isLost = false
  let tellLost: () => void = () => undefined
  const lost = new Promise<void>((resolve) => {
    tellLost = resolve
  })

  const sessions: ShardSession[] = options.sources.map((source) =>
    createShardSession({
      source,
      pool: options.pool,
      runner: options.runner,
      clock,
      logger,
      metrics,
      signal: calls.signal,
      isPaused: options.isPaused,
      onLost: (reason) => lose(source.shard, reason),
    }),
  )

  async function drainAll(): Promise<void> {
    await Promise.all(sessions.map((session) => session.drain()))
  }

  function lose(shard: number, reason: string): void {
    if (isLost) return
    isLost = true
    metrics.leaseLost()
    logger.warn('A lease was lost; open calls are cut and their results discarded', { shard, reason })
    calls.abort()
    void drainAll().then(tellLost)
  }

  async function leave(): Promise<void> {
    const results = await Promise.allSettled(sessions.map((session) => session.leave()))
    if (results.some((result) => result.status === 'rejected')) {
      logger.warn('Not everything could be given back; the others take it when the lease has run out')
    }
  }

  return {
    lost,
    leave,
    start: async () => {
      const results = await Promise.allSettled(sessions.map((session) => session.start()))
      const failed = results.find((result) => result.status === 'rejected')
      if (failed === undefined) return
      calls.abort()
      for (const session of sessions) session.discard()
      await drainAll()
      throw failed.reason
    },
    wake: (shard) => sessions[shard]?.wake(),
    slotFreed: () => {
      for (const session of sessions) session.slotFreed()
    },
    onNextDue: (listener) => {
      for (const session of sessions) session.onNextDue((nextDueMs) => listener(session.shard, nextDueMs))
    },
    stop: async (graceMs) => {
      const cancelCut = clock.after(graceMs, () => calls.abort())
      const cancelDiscard = clock.after(graceMs + WRITE_GRACE_MS, () => {
        for (const session of sessions) session.discard()
      })
      await drainAll()
      cancelCut()
      cancelDiscard()
      await leave()
    },
  }
}
