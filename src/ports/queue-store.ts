import type { QueueSettings } from '../domain/jobs/queue-settings.ts'

export interface QueueCounts {
  /** Ready to start. */
  readonly pending: number
  /** Waiting for their time. */
  readonly delayed: number
  readonly processing: number
  /** In the dead-letter queue. */
  readonly dead: number
}

export interface Queue {
  readonly queueId: number
  readonly team: string
  readonly name: string
  readonly settings: QueueSettings
  readonly counts: QueueCounts
}

/** The queues as the engine holds them. Throws StoreUnavailableError. */
export interface QueueStore {
  /** By name, ascending. `bad_cursor` when the cursor is not one of ours. */
  list(query: {
    team: string
    limit: number
    cursor: string | null
  }): Promise<{ queues: Queue[]; nextCursor: string | null } | 'bad_cursor'>
  get(team: string, queueId: number): Promise<Queue | null>
  getByName(team: string, name: string): Promise<Queue | null>
  /** Makes the queue or changes its settings; new jobs use them, chains that exist keep theirs. */
  apply(team: string, name: string, settings: QueueSettings): Promise<{ queueId: number }>
  /** Removes the queue and all its jobs for good, in the same time for one job or a million. */
  remove(team: string, name: string): Promise<'removed' | 'not_found'>
}

/** Edits by people: to the resource where resources are kept, so that files and engine agree. */
export interface QueueEditor {
  /** The queue after the edit; null when it does not exist. */
  edit(team: string, queueId: number, change: Partial<QueueSettings>): Promise<Queue | null>
  remove(team: string, queueId: number): Promise<'removed' | 'not_found'>
}
