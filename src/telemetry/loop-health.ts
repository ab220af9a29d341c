import { isOutage, reasonOf } from '../domain/errors.ts'
import type { LoopHealth, LoopName, LoopIterations } from '../ports/loops/loop-health.ts'
import type { Metrics } from '../ports/metrics.ts'
import type { Runtime } from '../ports/runtime.ts'
import type { ReadinessCheck } from './ops-server.ts'

export interface LoopHealthOptions extends Runtime {
  readonly metrics: Pick<Metrics, 'loopFailed' | 'loopsFailing'>
}

/** The wait after the first failure; each further one in a row doubles it. */
const BACKOFF_MS_MIN = 250
const BACKOFF_MS_MAX = 30_000
/** A loop counts as failing from this many failures in a row: two may be the end of something that is over already. */
const FAILING_FROM = 3
/** A single failure of a loop is logged at most this often. */
const LOG_EVERY_MS = 60_000
/** Loops that `/readyz` names. */
const NAMED_MAX = 5
/**
 * In these loops a single job fails, which holds one slot while all others end: the metric and the log report it, but a
 * job of one team must not make a pod unready, which would stop a rollout.
 */
const OF_SINGLE_JOBS: ReadonlySet<LoopName> = new Set(['finish'])

/**
 * The health of the loops of this process. Owns how often each of them has failed in a row.
 *
 *     well → troubled (one or two failures in a row) → failing (told by the log, a metric and `check`) → well
 */
export function createLoopHealth(options: LoopHealthOptions): {
  readonly loops: LoopHealth
  /** Ready while no loop that works for all fails turn after turn. */
  readonly check: ReadinessCheck
} {
  const known = new Map<string, Iterations>()
  const failing = new Set<Iterations>()
  const note = (iterations: Iterations, isFailing: boolean): void => {
    if (isFailing) failing.add(iterations)
    else failing.delete(iterations)
    const count = [...failing].filter(({ loop }) => loop === iterations.loop).length
    options.metrics.loopsFailing(iterations.loop, count)
  }
  return {
    loops: {
      of: (loop, shard) => {
        const key = `${loop} ${shard}`
        const iterations = known.get(key) ?? new Iterations(options, { loop, shard, note })
        known.set(key, iterations)
        return iterations
      },
    },
    check: {
      name: 'loops',
      failure: () => describe([...failing].filter(({ loop }) => !OF_SINGLE_JOBS.has(loop))),
    },
  }
}

class Iterations implements LoopIterations {
  readonly loop: LoopName
  readonly shard: number | null
  readonly #options: LoopHealthOptions
  readonly #note: (iterations: Iterations, isFailing: boolean) => void
  /** Failures in a row. */
  #failures = 0
  #loggedAtMs = -Infinity

  constructor(
    options: LoopHealthOptions,
    {
      loop,
      shard,
      note,
    }: {
      readonly loop: LoopName
      readonly shard: number | null
      readonly note: (iterations: Iterations, isFailing: boolean) => void
    },
  ) {
    this.loop = loop
    this.shard = shard
    this.#options = options
    this.#note = note
  }

  succeeded(): void {
    if (this.#failures === 0) return
    if (this.#failures >= FAILING_FROM) {
      this.#note(this, false)
      this.#options.logger.info('A loop works again', this.#fields())
    }
    this.#failures = 0
  }

  failed(error: unknown): number | null {
    const { logger, metrics } = this.#options
    const fields = { ...this.#fields(), reason: reasonOf(error) }
    if (isOutage(error)) {
      logger.debug('A turn of a loop failed because Redis is away or full; it is retried', fields)
      return null
    }
    this.#failures += 1
    metrics.loopFailed(this.loop)
    if (this.#failures === FAILING_FROM) {
      this.#note(this, true)
      logger.error('A loop fails turn after turn because of a defect', fields)
    } else {
      logger[this.#mayLog() ? 'error' : 'debug']('A turn of a loop failed because of a defect', fields)
    }
    return Math.min(BACKOFF_MS_MAX, BACKOFF_MS_MIN * 2 ** (this.#failures - 1))
  }

  /** One that fails now and then must not fill the log, and of those in a row the first says why. */
  #mayLog(): boolean {
    const nowMs = this.#options.clock.monotonicMs()
    if (this.#failures > 1 || nowMs - this.#loggedAtMs < LOG_EVERY_MS) return false
    this.#loggedAtMs = nowMs
    return true
  }

  #fields(): { loop: LoopName; shard?: number } {
    return this.shard === null ? { loop: this.loop } : { loop: this.loop, shard: this.shard }
  }
}

function describe(failing: readonly Iterations[]): string | null {
  if (failing.length === 0) return null
  const named = failing
    .slice(0, NAMED_MAX)
    .map(({ loop, shard }) => (shard === null ? loop : `${loop} (shard ${shard})`))
  const more = failing.length - named.length
  return `failing turn after turn: ${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
