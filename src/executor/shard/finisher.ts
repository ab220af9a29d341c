import { FINISH_BATCH_MAX } from '../../domain/limits.ts'
import { StorageFullError, StoreUnavailableError } from '../../domain/errors.ts'
import type { FinishCode, JobSource, WorkEnd } from '../../ports/jobs.ts'
import type { LoopIterations } from '../../ports/loops/loop-health.ts'
import type { Clock } from '../../ports/runtime.ts'
import type { NoteDefect } from '../defect-notes.ts'

/** How a piece of work ended, and the entry its owner needs back once the end is settled. */
export interface Ending<Entry> {
  readonly end: WorkEnd
  readonly entry: Entry
}

/** How an end was settled: written, refused as stale, or discarded, which counts as stale. */
export type SettledCode = Exclude<FinishCode, 'failed'>

export interface FinisherOptions<Entry> {
  readonly source: JobSource
  readonly clock: Clock
  readonly noteDefect: NoteDefect
  /** Is told whether what is held back can be written at last. */
  readonly iterations: LoopIterations
  /** These ends need no slots any more. */
  onSettled(endings: ReadonlyArray<Ending<Entry>>, codes: readonly SettledCode[]): void
}

const RETRY_DELAY_MS = 100

/**
 * Writes the ends of one shard's jobs in batches. Owns the ends not yet written. One batch is in progress while the next
 * one fills, so batches are small when it is quiet and full under load. A batch is resent until Redis answers, or until
 * `discard`: then the lease has ended and the remaining ends are settled as stale without being sent.
 *
 *     idle ⇄ flushing
 *
 * A batch that a defect keeps from being written is halved, down to the end that throws alone. That job is quarantined, and
 * its neighbours end. If it cannot even be quarantined, it is held back and tried again after a pause that grows: it keeps
 * its slot, which bounds how many there can be, and its call is not made again.
 *
 * There is nothing to stop: after `discard` it is idle once every end is settled.
 */
export class Finisher<Entry> {
  readonly #options: FinisherOptions<Entry>
  #waiting: Array<Ending<Entry>> = []
  /** Ends that could be neither written nor quarantined. */
  #heldBack: Array<Ending<Entry>> = []
  /** Ends the pause of those that are held back; null = there is none. */
  #cancelPause: (() => void) | null = null
  #isFlushing = false
  #isDiscarding = false

  constructor(options: FinisherOptions<Entry>) {
    this.#options = options
  }

  add(end: WorkEnd, entry: Entry): void {
    this.#waiting.push({ end, entry })
    this.#wake()
  }

  /** true while nothing is being written; ends may be held back. */
  isIdle(): boolean {
    return !this.#isFlushing
  }

  discard(): void {
    this.#isDiscarding = true
    this.#endPause()
  }

  #wake(): void {
    if (this.#isFlushing) return
    this.#isFlushing = true
    // Calls that end in the same iteration of the event loop share a batch.
    this.#options.clock.nextTurn(() => void this.#flush())
  }

  async #flush(): Promise<void> {
    for (;;) {
      if (this.#heldBack.length > 0 && this.#cancelPause === null) await this.#retry()
      else if (this.#waiting.length > 0) await this.#end(this.#nextBatch())
      else break
    }
    this.#isFlushing = false
  }

  #nextBatch(): ReadonlyArray<Ending<Entry>> {
    const batch = this.#waiting.slice(0, FINISH_BATCH_MAX)
    this.#waiting = this.#waiting.slice(FINISH_BATCH_MAX)
    return batch
  }

  async #end(batch: ReadonlyArray<Ending<Entry>>): Promise<void> {
    const { failed } = await this.#write(batch)
    for (const { ending, reason } of failed) this.#options.noteDefect('end', reason, ending.end.work)
    if (failed.length > 0) await this.#quarantine(failed.map(({ ending }) => quarantined(ending)))
  }

  async #retry(): Promise<void> {
    const heldBack = this.#heldBack
    this.#heldBack = []
    await this.#quarantine(heldBack)
    if (this.#heldBack.length === 0) this.#options.iterations.succeeded()
  }

  async #quarantine(batch: ReadonlyArray<Ending<Entry>>): Promise<void> {
    const { clock, iterations } = this.#options
    const { failed } = await this.#write(batch)
    const [first] = failed
    if (first === undefined) return
    this.#heldBack.push(...failed.map(({ ending }) => ending))
    // A new one waits with the others: the pause must not begin again with each.
    if (this.#cancelPause !== null) return
    const pauseMs = iterations.failed(first.reason) ?? RETRY_DELAY_MS
    this.#cancelPause = clock.after(pauseMs, () => this.#endPause())
  }

  #endPause(): void {
    if (this.#cancelPause === null) return
    this.#cancelPause()
    this.#cancelPause = null
    this.#wake()
  }

  /** Writes and settles a batch. Answers the ends that cannot be written even alone. */
  async #write(batch: ReadonlyArray<Ending<Entry>>): Promise<Written<Entry>> {
    const [only] = batch
    const isAlone = batch.length === 1
    let codes: readonly FinishCode[]
    try {
      codes = await this.#send(batch.map(({ end }) => end))
    } catch (reason) {
      if (only !== undefined && isAlone) return { failed: [{ ending: only, reason }] }
      const middle = Math.ceil(batch.length / 2)
      return this.#writeEach([batch.slice(0, middle), batch.slice(middle)])
    }
    const refused = this.#settle(batch, codes)
    if (refused.length === 0) return ALL_WRITTEN
    if (only !== undefined && isAlone) return { failed: [{ ending: only, reason: NOT_ENDED }] }
    // What threw may belong to the queue, and so keep all of its jobs: each of them may end without the others.
    return this.#writeEach(refused.map((ending) => [ending]))
  }

  async #writeEach(batches: ReadonlyArray<ReadonlyArray<Ending<Entry>>>): Promise<Written<Entry>> {
    const failed: Array<FailedEnd<Entry>> = []
    for (const batch of batches) failed.push(...(await this.#write(batch)).failed)
    return { failed }
  }

  /** Throws for a defect. */
  async #send(ends: readonly WorkEnd[]): Promise<readonly FinishCode[]> {
    const { source, clock } = this.#options
    while (!this.#isDiscarding) {
      try {
        return await source.finish(ends)
      } catch (error) {
        if (!(error instanceof StoreUnavailableError || error instanceof StorageFullError)) throw error
        await new Promise<void>((resolve) => clock.after(RETRY_DELAY_MS, resolve))
      }
    }
    return ends.map(() => 'stale')
  }

  /** Answers the ends that are not settled because they could not be written. */
  #settle(batch: ReadonlyArray<Ending<Entry>>, codes: readonly FinishCode[]): ReadonlyArray<Ending<Entry>> {
    if (codes.length === batch.length && areSettled(codes)) {
      this.#tell(batch, codes)
      return NONE
    }
    const refused = batch.filter((_, i) => codes[i] === 'failed')
    const settled = batch.filter((_, i) => codes[i] !== 'failed')
    const settledCodes = batch.map((_, i) => codes[i] ?? 'stale').filter((code) => code !== 'failed')
    if (settled.length > 0) this.#tell(settled, settledCodes)
    return refused
  }

  /** Reports settled ends. A listener that throws must not keep the next ends from being written. */
  #tell(endings: ReadonlyArray<Ending<Entry>>, codes: readonly SettledCode[]): void {
    const { onSettled, noteDefect } = this.#options
    try {
      onSettled(endings, codes)
    } catch (error) {
      for (const { end } of endings.slice(0, 1)) noteDefect('aside', error, end.work)
    }
  }
}

interface FailedEnd<Entry> {
  readonly ending: Ending<Entry>
  readonly reason: unknown
}

interface Written<Entry> {
  readonly failed: ReadonlyArray<FailedEnd<Entry>>
}

const NONE: readonly never[] = []
const ALL_WRITTEN: Written<never> = { failed: NONE }
const NOT_ENDED = new Error('Redis could not write what belongs to this job; the log of the step says why')

function areSettled(codes: readonly FinishCode[]): codes is readonly SettledCode[] {
  return !codes.includes('failed')
}

function quarantined<Entry>({ end, entry }: Ending<Entry>): Ending<Entry> {
  return { end: { type: 'quarantined', work: end.work }, entry }
}
