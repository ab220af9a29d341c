import type { AuditRecord } from '../../domain/access/audit-record.ts'
import { type QueueStop, type QueueStopKind, stopIn } from '../../domain/queue-stop.ts'
import { LruCache } from '../../domain/lru-cache.ts'
import type { AuditLog } from '../../ports/access/audit-log.ts'
import type { Queue } from '../../ports/queues.ts'
import type { Clock } from '../../ports/runtime.ts'

/** Entries about one queue that are looked through. */
const ENTRIES_MAX = 100
/** An open page asks every few seconds, and the log of a busy team is long. */
const KNOWN_MS = 10_000
const KNOWN_MAX = 1_000

type Stops = Readonly<Record<QueueStopKind, QueueStop | null>>

interface Known {
  /** The stops that were looked for: a queue that is stopped in another way by now needs another look. */
  readonly wanted: string
  readonly asked: Promise<Stops>
  readonly untilMs: number
}

/** Looks up in the audit log who has stopped a queue, and remembers it for some seconds. */
export class StopFinder {
  readonly #auditLog: Pick<AuditLog, 'list'>
  readonly #clock: Pick<Clock, 'monotonicMs'>
  readonly #known = new LruCache<number, Known>(KNOWN_MAX)

  constructor({ auditLog, clock }: { auditLog: Pick<AuditLog, 'list'>; clock: Pick<Clock, 'monotonicMs'> }) {
    this.#auditLog = auditLog
    this.#clock = clock
  }

  /** null = the log does not say, or the queue is not stopped, so the log is not read. */
  find(queue: Queue): Promise<Stops> {
    const wanted = wantedOf(queue)
    if (wanted.length === 0) return Promise.resolve({ pause: null, drain: null })
    const nowMs = this.#clock.monotonicMs()
    const found = this.#known.get(queue.queueId)
    if (found?.wanted === wanted.join() && found.untilMs > nowMs) return found.asked
    const asked = this.#look(queue, wanted)
    this.#known.set(queue.queueId, { wanted: wanted.join(), asked, untilMs: nowMs + KNOWN_MS })
    asked.catch(() => this.forget(queue))
    return asked
  }

  /** Drops what is remembered, as a change of the queue may have made it wrong. */
  forget({ queueId }: Queue): void {
    this.#known.delete(queueId)
  }

  async #look({ team, name }: Queue, wanted: readonly QueueStopKind[]): Promise<Stops> {
    // The filter takes ids as well, and a queue may be named like the id of another.
    const stopOf = (records: readonly AuditRecord[], kind: QueueStopKind): QueueStop | null =>
      stopIn(
        records.filter(({ resource }) => resource.name === name),
        kind,
      )
    const nothing = { actor: null, action: null, afterMs: null, beforeMs: null }
    const page = await this.#auditLog.list({
      team,
      limit: ENTRIES_MAX,
      cursor: null,
      filter: { ...nothing, resourceKind: 'queue', resource: name },
      isEnough: (records) => wanted.every((kind) => stopOf(records, kind) !== null),
    })
    const records = page === 'bad_cursor' ? [] : page.records
    return { pause: stopOf(records, 'pause'), drain: stopOf(records, 'drain') }
  }
}

function wantedOf({ settings: { isActive, isDraining } }: Queue): QueueStopKind[] {
  return [...(isActive ? [] : (['pause'] as const)), ...(isDraining ? (['drain'] as const) : [])]
}
