import type { CronSettings } from '../domain/crons/cron.ts'
import type { MissedTicks } from '../domain/crons/cron-tick.ts'

/** A cron whose tick is due, as it was read; a decision about it counts only while it is still so. */
export interface DueCron {
  readonly cronId: number
  readonly team: string
  /** Of the settings; rises with every edit. */
  readonly version: number
  readonly settings: CronSettings
  /** How large its settings are, and about each of its runs. */
  readonly bytes: number
  /** The first tick not yet decided about. */
  readonly expectedMs: number
  /** How long after its ticks the cron runs. */
  readonly spreadMs: number
  /** The run that has not ended, as far as Redis knows; null = none. */
  readonly running: number | null
}

/** What becomes of a cron's due ticks. */
export interface DecidedCron {
  readonly cron: DueCron
  /** Ticks that run now, oldest first. */
  readonly run: readonly number[]
  readonly missed: MissedTicks | null
  /** null = none comes. */
  readonly nextMs: number | null
}

export interface TickAnswer {
  /** Runs made. */
  readonly started: number
  /** Decisions that were no longer so: another executor was quicker, or the cron was edited. */
  readonly outdated: number
}

/** Decisions that are written down, ready to be sent. */
export interface PreparedTicks {
  readonly crons: number
  /** Makes the runs and the records, and sets the next ticks. */
  send(): Promise<TickAnswer>
}

/**
 * One shard's crons. Any executor may ask, and several at once without harm: a tick is decided about once. Throws
 * StoreUnavailableError and StorageFullError.
 */
export interface CronSource {
  readonly shard: number
  /**
   * Leaves out of all answers, for a while, a cron that cannot be ticked, and says so once in the log. Those whose
   * records are damaged are left out anyhow. Answers false when there are too many.
   */
  setAside(cron: DueCron, reason: string): boolean
  /** When the next tick is due, by Redis time; null = none waits. */
  nextDueMs(): Promise<number | null>
  /** Crons whose tick is due, the longest due first, a bounded page. @param skip so many are passed over */
  due(skip: number): Promise<DueCron[]>
  /**
   * Crons that come due after one moment and up to another one, the first due first. One that is ticked or edited while
   * they are read comes as it is then, and may be due at any time.
   */
  upcoming(afterMs: number, untilMs: number, limit: number): Promise<DueCron[]>
  /** Writes decisions down, in as many steps as their bytes and number ask for. Until they are sent nothing is done. */
  prepare(decided: readonly DecidedCron[]): Promise<PreparedTicks[]>
  /** Tells other executors that there is something to claim. Lossy. */
  hint(): void
  redisNowMs(): number
}
