/** Names of queues that rows of a shard share; with more, they are learnt anew. */
const NAMES_MAX = 4_096

/** Jobs that were accepted in one queue. */
export interface AcceptedJobs {
  /** The text `team/name`. */
  readonly field: string
  readonly localId: string
  readonly count: number
}

type QueueName = Pick<AcceptedJobs, 'field' | 'localId'>

/** What a lost range held of one queue. */
export interface LostJobs extends QueueName {
  count: number
  fromMs: number
  toMs: number
}

/**
 * What the last steps accepted, a row for each step and queue, in the order of the steps. Owns its room from the start, so
 * that an intake takes no more memory the longer it runs: the newest row takes the place of the oldest.
 */
export class AcceptedRows {
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
