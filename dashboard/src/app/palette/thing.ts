/** A queue or a cron that the palette names. */
export interface Thing {
  readonly kind: 'queue' | 'cron'
  readonly id: number
  readonly name: string
  readonly page: string
  /** It can be paused; else it can be resumed. */
  readonly isRunning: boolean
}
