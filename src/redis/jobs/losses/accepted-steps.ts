import { randomBytes } from 'node:crypto'

/** Rows that an intake keeps over all shards, 4 MiB: minutes of pushes at full load. */
const ROWS_MAX = 131_072
/** Names of queues that rows of a shard share; with more, they are learnt anew. */
const NAMES_MAX = 4_096
/** Shorter than INTAKE_MARK_SECONDS, so that a mark that has expired is no loss. */
const ANSWERS_COUNT_MS = 6 * 86_400_000

/** Jobs that were accepted in one queue. */
export interface AcceptedJobs {
  /** The text `team/name`. */
  readonly field: string
  readonly localId: string
  readonly count: number
}

type QueueName = Pick<AcceptedJobs, 'field' | 'localId'>

/** Steps after `from` up to `to`. */
export interface LostSteps {
  readonly from: number
  readonly to: number
}

/** What a lost range held of one queue. */
export interface LostJobs extends QueueName {
  count: number
  fromMs: number
  toMs: number
}

/** The steps of an intake in one shard. */
interface ShardSteps {
  last: number
  answered: number
  answeredAtMs: number
  readonly rows: RowRing
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
      rows: new RowRing(Math.max(1, Math.floor(rowsMax / shards))),
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

/**
 * What the last steps accepted, a row for each step and queue, in the order of the steps. Owns its room from the start, so
 * that an intake takes no more memory the longer it runs: the newest row takes the place of the oldest.
 */
class RowRing {
  readonly #steps: Float64Array
  readonly #timesMs: Float64Array
  /** 0 = the row is not used, or its jobs were told. */
  readonly #counts: Uint32Array
  readonly #queues: Array<QueueName | null>
  readonly #names = new Map<string, QueueName>()
  /** Where the next row goes. */
  #next = 0
  #forgotten = 0

  constructor(rows: number) {
    this.#steps = new Float64Array(rows)
    this.#timesMs = new Float64Array(rows)
    this.#counts = new Uint32Array(rows)
    this.#queues = Array.from({ length: rows }, () => null)
  }

  /** The highest step whose rows were forgotten for want of room. */
  get forgotten(): number {
    return this.#forgotten
  }

  add(step: number, atMs: number, { field, localId, count }: AcceptedJobs): void {
    const at = this.#next
    if (this.#counts[at] !== 0) this.#forgotten = Math.max(this.#forgotten, this.#steps[at] ?? 0)
    this.#steps[at] = step
    this.#timesMs[at] = atMs
    this.#counts[at] = count
    this.#queues[at] = this.#nameOf({ field, localId })
    this.#next = (at + 1) % this.#counts.length
  }

  /** The jobs of steps after `from` up to `to`, by queue. */
  jobsOf(from: number, to: number): LostJobs[] {
    const queues = new Map<string, LostJobs>()
    for (const at of this.#within(from, to)) {
      const name = this.#queues[at] as QueueName
      const atMs = this.#timesMs[at] as number
      const key = keyOf(name)
      const queue = queues.get(key) ?? { ...name, count: 0, fromMs: atMs, toMs: atMs }
      queue.count += this.#counts[at] as number
      queue.fromMs = Math.min(queue.fromMs, atMs)
      queue.toMs = Math.max(queue.toMs, atMs)
      queues.set(key, queue)
    }
    return [...queues.values()]
  }

  /** Forgets steps after `from` up to `to`. */
  drop(from: number, to: number): void {
    for (const at of this.#within(from, to)) this.#counts[at] = 0
  }

  *#within(from: number, to: number): Generator<number> {
    const size = this.#counts.length
    for (let i = 0; i < size; i += 1) {
      const at = (this.#next + i) % size
      const step = this.#steps[at] as number
      if (this.#counts[at] !== 0 && step > from && step <= to) yield at
    }
  }

  /** Each push has texts of its own: rows share one. */
  #nameOf(name: QueueName): QueueName {
    const key = keyOf(name)
    const known = this.#names.get(key)
    if (known !== undefined) return known
    if (this.#names.size >= NAMES_MAX) this.#names.clear()
    this.#names.set(key, name)
    return name
  }
}

function keyOf({ field, localId }: QueueName): string {
  return `${localId} ${field}`
}
