import { pause } from '../../domain/pause.ts'
import { reasonOf } from '../../domain/errors.ts'
import type { Clock, Logger } from '../../ports/runtime.ts'
import type { ObjectKey } from '../../ports/kubernetes.ts'
import { parseKey } from '../../resources/queue-owner.ts'

export interface StatusSyncOptions<Stats> {
  /** Answers all keys, each once. */
  keys(): readonly ObjectKey[]
  /** Reads the stats of these keys from Redis, in the same order; null = Redis has no such object. */
  read(keys: readonly ObjectKey[]): Promise<ReadonlyArray<Stats | null>>
  /** Tells whether the status in the informer differs from the stats, so that a write is due. */
  isStale(key: ObjectKey, stats: Stats): boolean
  /** Requeues a key for the reconciler, which writes the status. */
  readonly enqueue: (key: ObjectKey) => void
  /** Called after each sync, with the stats of all keys. */
  readonly onSynced?: (stats: Iterable<Stats>) => void
  /** The log line for when Redis does not answer. */
  readonly failure: string
  readonly clock: Clock
  readonly logger: Logger
}

/** The time from the start of one sync to the start of the next. */
export const SYNC_EVERY_MS = 15_000
/** Protects the API server when ten thousand statuses change at once. */
export const STATUS_WRITES_PER_SECOND = 50
const WRITES_PER_SYNC = (SYNC_EVERY_MS / 1_000) * STATUS_WRITES_PER_SECOND
/** The loop rests this long even after a sync that took longer than its period. */
const REST_MS_MIN = 1_000
const READ_BATCH_MAX = 1_000
/** After this many failed syncs in a row every key is requeued, so that its status reports the outage. */
const FAILED_SYNCS_MAX = 4

/**
 * Keeps the statuses of one kind in step with Redis while `run` lasts. It writes nothing itself. A sync reads the stats
 * of all keys, then requeues those with a stale status at a fixed rate and reads each again just before, so that no
 * written status is old. Keys that a sync has no time for come first in the next one, and namespaces alternate, so that
 * one with many changes does not hold up the others. Owns the stats that were read last.
 */
export class StatusSync<Stats> {
  readonly #options: StatusSyncOptions<Stats>
  readonly #stats = new Map<ObjectKey, Stats>()
  /** The keys still to be requeued, the longest waiting of each namespace first. */
  #waiting: readonly ObjectKey[] = []
  #failedSyncs = 0

  constructor(options: StatusSyncOptions<Stats>) {
    this.#options = options
  }

  /** Answers the stats that were read last; null = none were read yet, or Redis has no such object. */
  of(key: ObjectKey): Stats | null {
    return this.#stats.get(key) ?? null
  }

  /** Reads the stats of one key now, for its first status. Should that fail, the next sync reads them. */
  async refresh(key: ObjectKey): Promise<void> {
    try {
      await this.#readStale([key])
    } catch (error) {
      this.#options.logger.debug(this.#options.failure, { reason: reasonOf(error) })
    }
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, onSynced } = this.#options
    while (!signal.aborted) {
      const startedMs = clock.monotonicMs()
      try {
        await this.#sync(signal)
        this.#failedSyncs = 0
        onSynced?.(this.#stats.values())
      } catch (error) {
        await this.#noteFailure(error, signal)
      }
      const tookMs = clock.monotonicMs() - startedMs
      await pause(clock, Math.max(REST_MS_MIN, SYNC_EVERY_MS - tookMs), signal)
    }
  }

  async #sync(signal: AbortSignal): Promise<void> {
    const keys = this.#options.keys()
    const known = new Set(keys)
    for (const key of this.#stats.keys()) if (!known.has(key)) this.#stats.delete(key)
    const stale = new Set<ObjectKey>()
    for (let begin = 0; begin < keys.length && !signal.aborted; begin += READ_BATCH_MAX) {
      for (const key of await this.#readStale(keys.slice(begin, begin + READ_BATCH_MAX))) stale.add(key)
    }
    const late = this.#waiting.filter((key) => stale.has(key))
    this.#waiting = alternateNamespaces(new Set([...late, ...stale]))
    await this.#enqueueSlowly((batch) => this.#readStale(batch), signal)
  }

  async #readStale(keys: readonly ObjectKey[]): Promise<readonly ObjectKey[]> {
    const read = await this.#options.read(keys)
    return keys.filter((key, index) => {
      const stats = read[index] ?? null
      if (stats === null) this.#stats.delete(key)
      else this.#stats.set(key, stats)
      return stats !== null && this.#isStale(key, stats)
    })
  }

  /**
   * A key that cannot be compared counts as stale: its reconcile meets what threw and reports it, and the sync of all
   * others goes on.
   */
  #isStale(key: ObjectKey, stats: Stats): boolean {
    try {
      return this.#options.isStale(key, stats)
    } catch {
      return true
    }
  }

  /** Stops when the time of one sync is used up. */
  async #enqueueSlowly(
    choose: (batch: readonly ObjectKey[]) => Promise<readonly ObjectKey[]>,
    signal: AbortSignal,
  ): Promise<void> {
    const { clock, enqueue } = this.#options
    for (let taken = 0; taken < WRITES_PER_SYNC && this.#waiting.length > 0;) {
      if (taken > 0) await pause(clock, 1_000, signal)
      if (signal.aborted) return
      const batch = this.#waiting.slice(0, STATUS_WRITES_PER_SECOND)
      for (const key of await choose(batch)) enqueue(key)
      this.#waiting = this.#waiting.slice(batch.length)
      taken += batch.length
    }
  }

  /** Requeues every key once; while Redis is away the reconciler retries them on its own. */
  async #noteFailure(error: unknown, signal: AbortSignal): Promise<void> {
    const { logger, failure, keys } = this.#options
    this.#failedSyncs += 1
    logger[this.#failedSyncs === 1 ? 'warn' : 'debug'](failure, { reason: reasonOf(error) })
    if (this.#failedSyncs === FAILED_SYNCS_MAX) this.#waiting = alternateNamespaces(keys())
    if (this.#failedSyncs >= FAILED_SYNCS_MAX) await this.#enqueueSlowly(async (batch) => batch, signal)
  }
}

/** Takes one key of each namespace after the other; keys of one namespace keep their order. */
export function alternateNamespaces(keys: Iterable<ObjectKey>): readonly ObjectKey[] {
  const groups = [...Map.groupBy(keys, (key) => parseKey(key).team).values()]
  const ordered: ObjectKey[] = []
  for (let at = 0, open = groups; open.length > 0; at += 1) {
    open = open.filter((group) => group.length > at)
    for (const group of open) ordered.push(group[at]!)
  }
  return ordered
}
