import { randomBytes } from 'node:crypto'
import { AcceptedRows, type AcceptedJobs, type LostJobs } from './accepted-rows.ts'

/** Rows that an intake keeps over all shards, 4 MiB: minutes of pushes at full load. */
const ROWS_MAX = 131_072
/** Shorter than INTAKE_MARK_SECONDS, so that a mark that has expired is no loss. */
const ANSWERS_COUNT_MS = 6 * 86_400_000

/** Steps after `from` up to `to`. */
export interface LostSteps {
  readonly from: number
  readonly to: number
}

/** The steps of an intake in one shard. */
interface ShardSteps {
  last: number
  answered: number
  answeredAtMs: number
  readonly rows: AcceptedRows
  lost: LostSteps | null
}

/**
 * What an intake was answered lately, by which it is known what Redis has lost when it comes back with less: the number
 * of each step, and the jobs that it accepted. Owns a bounded list of them; the oldest go first.
 */
export class AcceptedSteps {
  /** Identifies the intake, so that its resends and its marks are recognized. */
  readonly nonce = randomBytes(6).toString('base64url')
  readonly #shards: readonly ShardSteps[]
  #onLost: () => void = () => undefined

  constructor(shards: number, rowsMax: number = ROWS_MAX) {
    this.#shards = Array.from({ length: shards }, () => ({
      last: 0,
      answered: 0,
      answeredAtMs: 0,
      rows: new AcceptedRows(Math.max(1, Math.floor(rowsMax / shards))),
      lost: null,
    }))
  }

  /** @param listener called when an answer tells of a loss */
  onLost(listener: () => void): void {
    this.#onLost = listener
  }

  /** Numbers the next step. `answered` is how far the intake was answered. */
  next(shard: number, nowMs: number): { readonly stepNumber: number; readonly answered: number } {
    const steps = this.#of(shard)
    steps.last += 1
    return { stepNumber: steps.last, answered: this.answered(shard, nowMs) }
  }

  /** The highest step that was answered; 0 = none lately. */
  answered(shard: number, nowMs: number): number {
    const { answered, answeredAtMs } = this.#of(shard)
    return nowMs - answeredAtMs < ANSWERS_COUNT_MS ? answered : 0
  }

  note(
    shard: number,
    {
      step,
      atMs,
      accepted,
      lost,
    }: {
      readonly step: number
      /** The time of the step. */
      readonly atMs: number
      readonly accepted: readonly AcceptedJobs[]
      readonly lost: LostSteps | null
    },
  ): void {
    const steps = this.#of(shard)
    steps.answered = Math.max(steps.answered, step)
    steps.answeredAtMs = atMs
    for (const jobs of accepted) steps.rows.add(step, atMs, jobs)
    if (lost !== null) {
      steps.lost = lost
      this.#onLost()
    }
  }

  /** Notes what the mark says when it is read; null = nothing is lost. */
  noteLost(shard: number, lost: LostSteps | null): void {
    this.#of(shard).lost = lost
  }

  lost(shard: number): LostSteps | null {
    return this.#of(shard).lost
  }

  /** The jobs of lost steps, by queue. @returns `isAll` false when some of them were forgotten */
  jobsOf(shard: number, { from, to }: LostSteps): { readonly queues: LostJobs[]; readonly isAll: boolean } {
    const { rows } = this.#of(shard)
    return { queues: rows.jobsOf(from, to), isAll: rows.forgotten <= from }
  }

  /** Called when the loss was told. */
  told(shard: number, { from, to }: LostSteps): void {
    const steps = this.#of(shard)
    steps.rows.drop(from, to)
    if (steps.lost?.to === to) steps.lost = null
  }

  #of(shard: number): ShardSteps {
    const steps = this.#shards[shard]
    if (steps === undefined) throw new Error(`no such shard: ${shard}`)
    return steps
  }
}
