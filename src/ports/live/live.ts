/** Kinds of things that pages show, by which they know what to read again. */
export const LIVE_KINDS = ['jobs', 'queues', 'crons', 'alerts', 'settings', 'audit'] as const
export type LiveKind = (typeof LIVE_KINDS)[number]

/** Figures of a whole team at this moment. */
export interface LiveFigures {
  /** Jobs that have not ended. */
  readonly pending: number
  readonly inFlight: number
  /** Ready jobs that only waited for a slot of an executor, when they were last counted: once a minute. */
  readonly startable: number
  /** Ready jobs that something else kept from starting, when they were last counted. */
  readonly stopped: number
  /** The startable job that has been due for longest; null = none. */
  readonly oldestStartable: OldestStartable | null
  readonly unreadAlerts: number
}

export interface OldestStartable {
  readonly ageMs: number
  /** null = the hidden queue of a cron. */
  readonly queue: { readonly id: number; readonly name: string } | null
}

/** The state of a team at one moment, and what has changed since it was read before. */
export interface LiveReading {
  readonly figures: LiveFigures
  /** The kinds that have changed since the reading before. The first one says none. */
  readonly changed: ReadonlySet<LiveKind>
  /** By shard, what the next reading is compared with. */
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
  /** null = the team is read for the first time. */
  readonly before: LiveReading | null
}

/** Reads the state of teams whose pages are open. */
export interface LiveReader {
  /** Answers in the order asked; two steps per shard for 50 teams. Throws StoreUnavailableError. */
  read(asked: readonly AskedTeam[]): Promise<readonly LiveReading[]>
}
