import { isDeepStrictEqual } from 'node:util'
import { reasonOf } from '../domain/errors.ts'
import type { Clock } from '../ports/clock.ts'
import type { ControllerMetrics } from '../ports/controller-metrics.ts'
import type { ObjectKey } from '../ports/kube-object.ts'
import type { Logger } from '../ports/logger.ts'
import type { CensusEntry, QueueCensus } from '../ports/queue-census.ts'
import type { ResourceView } from '../ports/resource-view.ts'
import { ownerOf, placeOfKey, queueKeyOf } from '../resources/queue-owner.ts'
import { BY_QUEUE, type HttpQueue } from './kinds.ts'
import { pause } from '../domain/pause.ts'

export interface QueueCountersParts {
  readonly view: Pick<ResourceView<HttpQueue>, 'all' | 'byIndex'>
  readonly census: Pick<QueueCensus, 'count'>
  /** Puts a key in line for the reconciler, which writes the status. */
  readonly enqueue: (key: ObjectKey) => void
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Pick<ControllerMetrics, 'queuesCounted'>
}

/**
 * Counts the jobs of all queues with a resource, round after round. It writes nothing: a queue whose counts are not
 * those of its status gets a turn of the reconciler, which is the one writer of the status.
 */
export interface QueueCounters {
  /** As counted last; null when it was not yet. */
  of(key: ObjectKey): CensusEntry | null
  run(signal: AbortSignal): Promise<void>
}

/** From the end of one round to the begin of the next. */
export const COUNT_EVERY_MS = 15_000
/** Changed statuses that are put in line per second, so that ten thousand are not a flood for the API server. */
export const COUNT_WRITES_PER_SECOND = 50
/** Queues counted at once. */
const COUNT_BATCH_MAX = 1_000
/** Redis was away for so many rounds in a row: every queue gets a turn, and says so. */
const ROUNDS_AWAY_MAX = 4

export function createQueueCounters(parts: QueueCountersParts): QueueCounters {
  return new Counters(parts)
}

class Counters implements QueueCounters {
  readonly #parts: QueueCountersParts
  readonly #counted = new Map<ObjectKey, CensusEntry>()
  #roundsAway = 0

  constructor(parts: QueueCountersParts) {
    this.#parts = parts
  }

  of(key: ObjectKey): CensusEntry | null {
    return this.#counted.get(key) ?? null
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.#round(signal)
        this.#roundsAway = 0
        this.#parts.metrics.queuesCounted()
      } catch (error) {
        await this.#noteAway(error, signal)
      }
      await pause(this.#parts.clock, COUNT_EVERY_MS, signal)
    }
  }

  async #round(signal: AbortSignal): Promise<void> {
    const keys = this.#keys()
    const known = new Set(keys)
    for (const key of this.#counted.keys()) if (!known.has(key)) this.#counted.delete(key)
    await this.#enqueueSlowly(this.#news(keys, signal), signal)
  }

  /** A batch is counted when it is its turn: of ten thousand that all have changed the last comes after minutes. */
  async *#news(keys: readonly ObjectKey[], signal: AbortSignal): AsyncGenerator<ObjectKey> {
    for (let begin = 0; begin < keys.length && !signal.aborted; begin += COUNT_BATCH_MAX) {
      const batch = keys.slice(begin, begin + COUNT_BATCH_MAX)
      const entries = await this.#parts.census.count(batch.map(placeOfKey))
      for (const [index, key] of batch.entries()) {
        const entry = entries[index]
        if (entry === null || entry === undefined) this.#counted.delete(key)
        else this.#counted.set(key, entry)
      }
      yield* batch.filter((key) => this.#isNews(key))
    }
  }

  #keys(): readonly ObjectKey[] {
    const keys = new Set<ObjectKey>()
    for (const queue of this.#parts.view.all()) keys.add(queueKeyOf(queue))
    return [...keys]
  }

  #isNews(key: ObjectKey): boolean {
    const entry = this.#counted.get(key)
    const status = ownerOf(this.#parts.view.byIndex(BY_QUEUE, key))?.status
    // Without a queue_id the queue is not in force yet: its first status brings the counts.
    if (entry === undefined || status?.queueId !== entry.queueId) return false
    return (
      !isDeepStrictEqual(status.counts, entry.counts) ||
      isOldestNews(status.oldestReadyTime, entry.oldestReadyMs, this.#parts.clock.wallMs())
    )
  }

  async #enqueueSlowly(
    keys: Iterable<ObjectKey> | AsyncIterable<ObjectKey>,
    signal: AbortSignal,
  ): Promise<void> {
    let enqueued = 0
    for await (const key of keys) {
      if (enqueued > 0 && enqueued % COUNT_WRITES_PER_SECOND === 0) {
        await pause(this.#parts.clock, 1_000, signal)
      }
      if (signal.aborted) return
      this.#parts.enqueue(key)
      enqueued += 1
    }
  }

  /** One turn each tells it; their next ones follow by themselves until Redis answers. */
  async #noteAway(error: unknown, signal: AbortSignal): Promise<void> {
    this.#roundsAway += 1
    const log = this.#roundsAway === 1 ? 'warn' : 'debug'
    this.#parts.logger[log]('Jobs could not be counted', { reason: reasonOf(error) })
    if (this.#roundsAway === ROUNDS_AWAY_MAX) await this.#enqueueSlowly(this.#keys(), signal)
  }
}

function isOldestNews(told: string | undefined, ageMs: number | null, wallMs: number): boolean {
  if (told === undefined || ageMs === null) return (told === undefined) !== (ageMs === null)
  return Math.abs(Date.parse(told) - (wallMs - ageMs)) >= COUNT_EVERY_MS
}
