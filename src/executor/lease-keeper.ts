import { LEASE_BEAT_MS, LEASE_MARGIN_MS, LEASE_MS } from '../domain/limits.ts'
import type { Clock } from '../ports/clock.ts'
import type { JobSource } from '../ports/job-source.ts'
import type { Logger } from '../ports/logger.ts'

/**
 * Keeps one shard's lease. Owns: the local deadline, by the monotonic clock, counted from before each beat was sent,
 * so it always ends before the lease that Redis holds. Past it, or when Redis says so, `onLost` is called once.
 */
export interface LeaseKeeper {
  /** Makes the lease; throws StoreUnavailableError. */
  register(): Promise<void>
  stop(): void
}

/** After a beat that failed the next one goes out soon: a short outage must not cost the lease. */
const RETRY_BEAT_MS = 500

export function createLeaseKeeper(options: {
  source: JobSource
  clock: Clock
  logger: Logger
  onLost(reason: string): void
  /** Redis says how many jobs this executor holds. */
  onHeld(held: number): void
}): LeaseKeeper {
  const { source, clock, logger } = options
  let deadlineMs = 0
  let isStopped = false
  let cancelBeat: () => void = () => undefined
  let cancelDeadline: () => void = () => undefined

  function lose(reason: string): void {
    if (isStopped) return
    stop()
    options.onLost(reason)
  }

  function stop(): void {
    isStopped = true
    cancelBeat()
    cancelDeadline()
  }

  function watchDeadline(): void {
    cancelDeadline()
    cancelDeadline = clock.after(Math.max(0, deadlineMs - clock.monotonicMs()), () =>
      lose('the lease ran out'),
    )
  }

  async function beat(register: boolean): Promise<'ok' | 'lost'> {
    const sentAtMs = clock.monotonicMs()
    const answer = await source.beat(register)
    if (answer.status === 'lease_lost') return 'lost'
    deadlineMs = sentAtMs + LEASE_MS - LEASE_MARGIN_MS
    if (!isStopped) watchDeadline()
    options.onHeld(answer.held)
    return 'ok'
  }

  function beatAfter(delayMs: number): void {
    if (isStopped) return
    cancelBeat = clock.after(delayMs, () => {
      beat(false).then(
        (status) => (status === 'ok' ? beatAfter(LEASE_BEAT_MS) : lose('Redis had ended the lease')),
        (error: Error) => {
          logger.debug('A lease could not be renewed yet', { reason: error.message })
          beatAfter(RETRY_BEAT_MS)
        },
      )
    })
  }

  return {
    register: async () => {
      await beat(true)
      beatAfter(LEASE_BEAT_MS)
    },
    stop,
  }
}
