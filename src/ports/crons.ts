import type { MissedTicks } from '../domain/crons/cron-tick.ts'
import type { CronSettings } from '../domain/crons/cron.ts'

/** A record of a tick, of several missed ones or of a run by hand; the newest is a cron's last run. */
export interface CronRun {
  /** The tick, without the cron's spread; of a run made by hand, when that was. Of several missed ticks the last one. */
  readonly scheduledAtMs: number
  /**
   * `running`: its chain has not ended, or was removed before it could. `skipped`: the run before it had not ended.
   * `missed`: it could not run in its time.
   */
  readonly result: 'running' | 'succeeded' | 'failed' | 'skipped' | 'missed'
  /** The original job of the run; null when there was none. */
  readonly jobId: number | null
  readonly isManual: boolean
  /** More than 1 only for missed ticks, which are noted together; at most 10,000 are counted. */
  readonly ticks: number
}

/** What changes by itself. */
export interface CronState {
  readonly cronId: number
  /** The next tick, with the spread; null while paused, or when none comes. */
  readonly nextRunAtMs: number | null
  readonly lastRun: CronRun | null
  /** The tick of the newest run that succeeded. */
  readonly lastSuccessAtMs: number | null
  /** Runs that failed since the last one that succeeded. */
  readonly consecutiveFailures: number
}

export interface CronRef {
  readonly team: string
  /** Of the resource, one of its kind in the team; people see `displayName`. */
  readonly name: string
}

export interface Cron extends CronRef, CronState {
  readonly settings: CronSettings
}

export type CronRunEnd =
  | { readonly status: 'started'; readonly jobId: number; readonly scheduledAtMs: number }
  /** Concurrency is forbidden, and this run has not ended. */
  | { readonly status: 'still_running'; readonly jobId: number }
  | { readonly status: 'not_found' }

/** The crons as the engine holds them. Throws StoreUnavailableError. */
export interface CronStore {
  /** By name, ascending. `bad_cursor` when this list did not make the cursor. */
  list(query: {
    team: string
    limit: number
    cursor: string | null
  }): Promise<{ crons: Cron[]; nextCursor: string | null } | 'bad_cursor'>
  get(team: string, cronId: number): Promise<Cron | null>
  getByName(team: string, name: string): Promise<Cron | null>
  /**
   * Makes the cron or changes its settings. A new expression or zone, and the end of a pause, count from now on; all
   * else leaves the next tick as it is. What is in force already is not written. The settings must be valid: a schedule
   * that `cronScheduleOf` does not take is a fault.
   * @param formerId the id it had before its data was lost, which it gets again if nothing else has it
   */
  apply(
    team: string,
    name: string,
    settings: CronSettings,
    formerId?: number | null,
  ): Promise<{ readonly cronId: number; readonly nextRunAtMs: number | null }>
  /** Runs in flight end; what they were is forgotten. */
  remove(team: string, name: string): Promise<'removed' | 'not_found'>
  /** A run at once, without a tick; also of a paused cron. */
  runNow(team: string, cronId: number): Promise<CronRunEnd>
  /** The last 100 at most, newest first; null when there is no such cron. `bad_cursor` as in `list`. */
  runs(query: {
    team: string
    cronId: number
    limit: number
    cursor: string | null
  }): Promise<{ runs: CronRun[]; nextCursor: string | null } | 'bad_cursor' | null>
}

/** Edits by people: to the resource where resources are kept, so that files and engine agree. */
export interface CronEditor {
  /**
   * Makes a cron, under a resource name of its own.
   * @param key while the cron of a key lives, the same settings under it make no other; `key_used`: it has other ones
   */
  create(team: string, settings: CronSettings, key: string | null): Promise<Cron | 'key_used'>
  /** The cron after the edit; null when it does not exist. */
  edit(team: string, cronId: number, change: Partial<CronSettings>): Promise<Cron | null>
  remove(team: string, cronId: number): Promise<'removed' | 'not_found'>
}

/** Reads the states of many crons at once, cheaply. Throws StoreUnavailableError. */
export interface CronStats {
  /** In the order asked, at most 10,000 at once; null where the cron does not exist. */
  read(places: readonly CronRef[]): Promise<ReadonlyArray<CronState | null>>
  /** Every cron, page by page, rarely one twice. @param cursor null = the first page; null in the answer = the last one */
  page(cursor: string | null): Promise<{ readonly crons: readonly CronRef[]; readonly cursor: string | null }>
}

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
