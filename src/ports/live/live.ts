/** Kinds of things that pages show, by which they know what to read again. */
export const LIVE_KINDS = ['jobs', 'queues', 'crons', 'alerts', 'settings', 'audit'] as const
export type LiveKind = (typeof LIVE_KINDS)[number]

/** Of a whole team, now. */
export interface LiveFigures {
  /** Jobs that have not ended. */
  readonly pending: number
  readonly inFlight: number
  /** Age of the oldest ready job that could start; null = none. */
  readonly oldestReadyMs: number | null
  readonly unreadAlerts: number
}

/** What one look at a team saw. */
export interface LiveLook {
  readonly figures: LiveFigures
  /** What has changed since the look before; nothing in a first one. */
  readonly changed: ReadonlySet<LiveKind>
  /** By shard, for the next look alone. */
  readonly marks: readonly LiveMarks[]
}

export interface LiveMarks {
  readonly jobs: string
  readonly queues: string
  readonly crons: string
  readonly alerts: string
  /** The id of the last entry about settings in the audit log. */
  readonly audit: string
  /** Changes with each entry about jobs, alerts, bulks and runs, and with what is counted into any. */
  readonly deeds: string
}

export interface AskedTeam {
  readonly team: string
  /** null = this look is the first. */
  readonly before: LiveLook | null
}

/** Looks at teams whose pages are open. */
export interface LiveReader {
  /** In the order asked; two steps per shard for 50 teams. Throws StoreUnavailableError. */
  look(asked: readonly AskedTeam[]): Promise<readonly LiveLook[]>
}
