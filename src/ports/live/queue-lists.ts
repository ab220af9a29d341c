import type { QueueHour } from '../../domain/jobs/queues/queue-hour.ts'
import type { QueueSort } from '../../domain/jobs/queues/queue-order.ts'
import type { ReadySplit, StopReason } from '../../domain/jobs/queues/ready-split.ts'
import type { Queue } from '../queues.ts'

/** A queue as lists show it. */
export interface QueueRow extends Queue {
  readonly split: ReadySplit
  readonly lastHour: QueueHour
}

/** Stopped jobs of one reason, and the queues that they are in. */
export interface StoppedSum {
  readonly jobs: number
  readonly queues: number
}

/** What the queues that a list was made of hold together. */
export interface QueueSummary {
  readonly queues: number
  /** false = the team has more queues than a list looks at. */
  readonly isComplete: boolean
  readonly startable: number
  readonly stopped: Readonly<Record<StopReason, StoppedSum>>
  readonly oldestStartable: { readonly ageMs: number; readonly queueId: number; readonly name: string } | null
}

export interface QueueListQuery {
  readonly team: string
  /** Only queues whose name contains it, in letters of either case; null = all. */
  readonly text: string | null
  readonly sort: QueueSort
  readonly limit: number
  readonly cursor: string | null
  /** Whether a queue of this name may be shown. */
  readonly may: (name: string) => boolean
}

export interface QueueRows {
  readonly rows: readonly QueueRow[]
  readonly nextCursor: string | null
  /** null where the list is sorted by name, as it then looks at no more queues than it shows. */
  readonly summary: QueueSummary | null
}

/** Lists of queues for people: what each holds and what happened in it lately. Throws StoreUnavailableError. */
export interface QueueLists {
  /**
   * Sorted by anything but the name, a list looks at the first 5,000 queues of a team by name, and a search at 5,000
   * names in a page. `bad_cursor` when this list did not make the cursor.
   */
  list(query: QueueListQuery): Promise<QueueRows | 'bad_cursor'>
  /** The queue of this name, as a list of one or none. */
  named(team: string, name: string): Promise<QueueRows>
}
