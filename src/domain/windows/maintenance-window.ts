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

/** What a window is for. */
export interface WindowResource {
  readonly kind: 'queue' | 'cron'
  /** The queue's name; of a cron the name of its resource. */
  readonly name: string
}

export interface MaintenanceWindow {
  readonly team: string
  /** `metadata.name`, unique in the team. */
  readonly name: string
  readonly action: WindowAction
  /** null = all queues and crons of the team, and the team itself. */
  readonly resource: WindowResource | null
  readonly times: WindowTimes
  /** A comment. */
  readonly reason: string | null
}
