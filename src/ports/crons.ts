import type { MissedTicks } from '../domain/crons/cron-tick.ts'
import type { FailureReason } from '../domain/jobs/job.ts'
import type { CronSettings } from '../domain/crons/cron.ts'

/** Record of a tick, of several missed ticks or of a run by hand. The newest one is the cron's last run. */
export interface CronRun {
  /** The tick, without the cron's spread; the last one of several missed ticks; the time of a run by hand. */
  readonly scheduledAtMs: number
  /**
   * `running`: its chain has not ended, or was removed before it could. `skipped`: the previous run had not ended.
   * `missed`: it could not run in time.
   */
  readonly result: 'running' | 'succeeded' | 'failed' | 'skipped' | 'missed'
  /** Why it was skipped, if not because the previous run had not ended. */
  readonly cause?: 'queue_draining'
  /** Why it failed; absent when it did not. */
  readonly failureReason?: FailureReason
  /** The original job of the run; null when there was none. */
  readonly jobId: number | null
  readonly isManual: boolean
  /** More than 1 only for missed ticks, which share a record; at most 10,000 are counted. */
  readonly ticks: number
}

/** State of a cron that changes without an edit. */
export interface CronState {
  readonly cronId: number
  /** The next tick, with the spread; null while paused, or when there is none. */
  readonly nextRunAtMs: number | null
  readonly lastRun: CronRun | null
  /** The tick of the newest run that succeeded. */
  readonly lastSuccessAtMs: number | null
  /** Runs that failed since the last one that succeeded. */
  readonly consecutiveFailures: number
}

/** A cron's state as its status shows it. */
export interface CronStatsEntry extends CronState {
  /** The newest of the last runs that failed; null = none of those that are looked at. */
  readonly lastFailure: { readonly scheduledAtMs: number; readonly reason: FailureReason } | null
  /** Why a failure was raised for it that no success has followed; null = none. */
  readonly failing: FailureReason | null
}

export interface CronRef {
  readonly team: string
  /** Name of the resource, unique in the team; users see `displayName`. */
  readonly name: string
}

export interface Cron extends CronRef, CronState {
  readonly settings: CronSettings
}

export type CronRunEnd =
  | { readonly status: 'started'; readonly jobId: number; readonly scheduledAtMs: number }
  /** The cron forbids concurrent runs, and this one has not ended. */
  | { readonly status: 'still_running'; readonly jobId: number }
  /** The cron's queue takes no new jobs. */
  | { readonly status: 'queue_draining'; readonly queue: string }
  | { readonly status: 'not_found' }

/** The crons in Redis. Throws StoreUnavailableError. */
export interface CronStore {
  /** Sorted by name, ascending. `bad_cursor` when this list did not make the cursor. */
  list(query: {
    team: string
    limit: number
    cursor: string | null
  }): Promise<{ crons: Cron[]; nextCursor: string | null } | 'bad_cursor'>
  get(team: string, cronId: number): Promise<Cron | null>
  getByName(team: string, name: string): Promise<Cron | null>
  /**
   * Creates the cron or changes its settings. A new expression or time zone, and the end of a pause, compute the next
   * tick from now; other changes keep it. Unchanged settings are not written. Throws for a schedule that
   * `cronScheduleOf` refuses.
   * @param formerId the id it had before its data was lost; used again unless another cron has it
   */
  apply(
    team: string,
    name: string,
    settings: CronSettings,
    formerId?: number | null,
  ): Promise<{ readonly cronId: number; readonly nextRunAtMs: number | null }>
  /** Runs in flight end; their records are removed. */
  remove(team: string, name: string): Promise<'removed' | 'not_found'>
  /** Makes a run at once, without a tick; also for a paused cron. */
  runNow(team: string, cronId: number, callDepth?: number): Promise<CronRunEnd>
  /** The last 100 at most, newest first; null when there is no such cron. `bad_cursor` as in `list`. */
  runs(query: {
    team: string
    cronId: number
    limit: number
    cursor: string | null
  }): Promise<{ runs: CronRun[]; nextCursor: string | null } | 'bad_cursor' | null>
}

/** Edits by users. An edit changes the resource, where there is one, so that resource and Redis agree. */
export interface CronEditor {
  /**
   * Creates a cron under a new resource name.
   * @param key while a cron with this key exists, the same settings create no other; `key_used` = it has different ones
   */
  create(team: string, settings: CronSettings, key: string | null): Promise<Cron | 'key_used'>
  /**
   * The edited cron; null when it does not exist.
   * @param check called with the settings that the edit changes, again when others change them before it is written; what
   * it throws refuses the edit; without it nothing keeps others from changing them meanwhile
   */
  edit(
    team: string,
    cronId: number,
    change: Partial<CronSettings>,
    check?: (current: CronSettings) => void,
  ): Promise<Cron | null>
  remove(team: string, cronId: number): Promise<'removed' | 'not_found'>
}

/** Reads the states of many crons at once, cheaply. Throws StoreUnavailableError. */
export interface CronStats {
  /** Answers in the order asked, at most 10,000 at once; null where the cron does not exist. */
  read(places: readonly CronRef[]): Promise<ReadonlyArray<CronStatsEntry | null>>
  /** Every cron, page by page, rarely one twice. @param cursor null = the first page; null in the answer = the last one */
  page(cursor: string | null): Promise<{ readonly crons: readonly CronRef[]; readonly cursor: string | null }>
}

/** A cron with a due tick, as it was read. A decision about it counts only if it has not changed since. */
export interface DueCron {
  readonly cronId: number
  readonly team: string
  /** Name of the resource. */
  readonly name: string
  /** Version of the settings; rises with every edit. */
  readonly version: number
  readonly settings: CronSettings
  /** Size of its settings, and roughly of each of its runs. */
  readonly bytes: number
  /** The first tick that is not decided yet. */
  readonly expectedMs: number
  /** How long after its ticks the cron runs. */
  readonly spreadMs: number
  /** The run that has not ended, by the data in Redis; null = none. */
  readonly running: number | null
}

/** The decision about a cron's due ticks. */
export interface DecidedCron {
  readonly cron: DueCron
  /** Ticks that run now, oldest first. */
  readonly run: readonly number[]
  readonly missed: MissedTicks | null
  /** null = there is no next tick. */
  readonly nextMs: number | null
  /** Time of the next decision, Unix ms by Redis time; absent = when its next tick is due. */
  readonly deferredToMs?: number
}

export interface TickAnswer {
  /** Runs made. */
  readonly started: number
  /** Decisions that no longer counted: another executor was faster, or the cron was edited. */
  readonly outdated: number
}

/** Decisions encoded as a step that is ready to be sent. */
export interface PreparedTicks {
  readonly crons: number
  /** The decisions that were encoded, so that they can be prepared one by one when the step fails. */
  readonly decided: readonly DecidedCron[]
  /** Creates the runs and records, and sets the next ticks. */
  send(): Promise<TickAnswer>
}

/**
 * One shard's crons. Several executors may use it at once: a tick is decided once. Throws StoreUnavailableError and
 * StorageFullError.
 */
export interface CronSource {
  readonly shard: number
  /**
   * Quarantines a cron that cannot be ticked: for a while, no answer contains it. Logs it once. Crons with damaged
   * records are quarantined by the source itself. Answers false when too many are quarantined.
   */
  quarantine(cron: DueCron, reason: string): boolean
  /** Time of the next tick, by Redis time; null = there is none. */
  nextDueMs(): Promise<number | null>
  /** A bounded page of crons with a due tick, longest due first. @param skip number of crons to skip */
  due(skip: number): Promise<DueCron[]>
  /**
   * Crons due after `afterMs` and up to `untilMs`, earliest first. A cron that is ticked or edited meanwhile is answered
   * as it is then, and may be due at any time.
   */
  upcoming(afterMs: number, untilMs: number, limit: number): Promise<DueCron[]>
  /** Encodes decisions as steps of bounded size. Nothing happens until they are sent. */
  prepare(decided: readonly DecidedCron[]): Promise<PreparedTicks[]>
  /** Hints to other executors that there is something to claim. Lossy. */
  hint(): void
  redisNowMs(): number
}
