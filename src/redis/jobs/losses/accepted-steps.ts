import { randomBytes } from 'node:crypto'

/** Rows that an intake keeps over all shards, some 8 MiB: minutes of pushes at full load. */
const ROWS_MAX = 131_072
/** Shorter than INTAKE_MARK_SECONDS, so that a mark that has expired is no loss. */
const ANSWERS_COUNT_MS = 6 * 86_400_000

/** Jobs that were accepted in one queue. */
export interface AcceptedJobs {
  /** The text `team/name`. */
  readonly field: string
  readonly localId: string
  readonly count: number
}

/** Those of one step. */
interface AcceptedRow extends AcceptedJobs {
  readonly step: number
  /** The time of the step. */
  readonly atMs: number
}

/** Steps after `from` up to `to`. */
export interface LostSteps {
  readonly from: number
  readonly to: number
}

/** What a lost range held of one queue. */
export interface LostJobs extends Pick<AcceptedJobs, 'field' | 'localId'> {
  count: number
  fromMs: number
  toMs: number
}

/** The steps of an intake in one shard. */
interface ShardSteps {
  last: number
  answered: number
  answeredAtMs: number
  /** In the order of their steps; those before `first` are forgotten. */
  rows: AcceptedRow[]
  first: number
  /** The highest step whose rows were forgotten for want of room. */
  forgotten: number
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
  readonly #rowsMax: number
  #onLost: () => void = () => undefined

  constructor(shards: number, rowsMax: number = ROWS_MAX) {
    this.#rowsMax = Math.floor(rowsMax / shards)
    this.#shards = Array.from({ length: shards }, () => ({
      last: 0,
      answered: 0,
      answeredAtMs: 0,
      rows: [],
      first: 0,
      forgotten: 0,
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
    }: Pick<AcceptedRow, 'step' | 'atMs'> & {
      readonly accepted: readonly AcceptedJobs[]
      readonly lost: LostSteps | null
    },
  ): void {
    const steps = this.#of(shard)
    steps.answered = Math.max(steps.answered, step)
    steps.answeredAtMs = atMs
    for (const jobs of accepted) steps.rows.push({ step, atMs, ...jobs })
    forgetSurplus(steps, this.#rowsMax)
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
    const { rows, first, forgotten } = this.#of(shard)
    const queues = new Map<string, LostJobs>()
    for (let i = first; i < rows.length; i += 1) {
      const { step, atMs, field, localId, count } = rows[i] as AcceptedRow
      if (step <= from || step > to) continue
      const key = `${localId} ${field}`
      const queue = queues.get(key) ?? { field, localId, count: 0, fromMs: atMs, toMs: atMs }
      queue.count += count
      queue.fromMs = Math.min(queue.fromMs, atMs)
      queue.toMs = Math.max(queue.toMs, atMs)
      queues.set(key, queue)
    }
    return { queues: [...queues.values()], isAll: forgotten <= from }
  }

  /** Called when the loss was told. */
  told(shard: number, { from, to }: LostSteps): void {
    const steps = this.#of(shard)
    steps.rows = steps.rows.slice(steps.first).filter(({ step }) => step <= from || step > to)
    steps.first = 0
    if (steps.lost?.to === to) steps.lost = null
  }

  #of(shard: number): ShardSteps {
    const steps = this.#shards[shard]
    if (steps === undefined) throw new Error(`no such shard: ${shard}`)
    return steps
  }
}

/** Moves the beginning of the list, and copies it only once half of it is forgotten. */
function forgetSurplus(steps: ShardSteps, rowsMax: number): void {
  while (steps.rows.length - steps.first > rowsMax) {
    steps.forgotten = Math.max(steps.forgotten, steps.rows[steps.first]?.step ?? 0)
    steps.first += 1
  }
  if (steps.first <= rowsMax) return
  steps.rows = steps.rows.slice(steps.first)
  steps.first = 0
}
