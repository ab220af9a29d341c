export const WINDOW_ACTIONS = ['mute', 'hold'] as const
/** `mute`: alerts are stored and not sent. `hold`: jobs wait as well, and ticks of crons are decided at the window's end. */
export type WindowAction = (typeof WINDOW_ACTIONS)[number]

/** A recurring opening. */
export interface WindowSchedule {
  /** Five fields. */
  readonly cronExpression: string
  /** IANA. */
  readonly timeZone: string
  /** 60–604,800. */
  readonly durationSeconds: number
}

/** When a window is open: once, or at each tick of its schedules. Times are Unix ms. */
export type WindowTimes =
  | { readonly kind: 'once'; readonly startMs: number; readonly endMs: number }
  | { readonly kind: 'recurring'; readonly schedules: readonly WindowSchedule[] }

/** A queue or cron that a window is for. */
export interface WindowResource {
  readonly kind: 'queue' | 'cron'
  /** The queue's name; of a cron the name of its resource. */
  readonly name: string
}

/** Settings of a window that a user may change. */
export interface WindowSettings {
  readonly action: WindowAction
  /** null = all queues and crons of the team, and the team itself. */
  readonly resource: WindowResource | null
  readonly times: WindowTimes
  /** A comment. */
  readonly reason: string | null
}

export interface MaintenanceWindow extends WindowSettings {
  readonly team: string
  /** `metadata.name`, unique in the team. */
  readonly name: string
}

/** A window that opens once is at most this long. */
export const WINDOW_DAYS_MAX = 366
/** A schedule of a window keeps it open for this long, seconds. */
export const WINDOW_SECONDS_MIN = 60
export const WINDOW_SECONDS_MAX = 604_800
export const WINDOW_SCHEDULES_MAX = 10
export const WINDOW_REASON_CHARACTERS_MAX = 1_024

/** A calendar shows at most this long a span of time. */
export const WINDOW_CALENDAR_DAYS_MAX = 62
/** Ticks of one schedule that a calendar reads at most: one an hour for six weeks. */
export const WINDOW_SCHEDULE_TICKS_MAX = 1_024
/** Ticks of all schedules together; each costs some 20 µs. */
export const WINDOW_CALENDAR_TICKS_MAX = 8_192
/** A preview shows this many openings, of at most so many ticks of each schedule. */
export const WINDOW_PREVIEW_OPENINGS = 5
export const WINDOW_PREVIEW_TICKS_MAX = 32
