import type { Job, JobSummary } from '../../../../clients/typescript/src/client.ts'
import { CommanderError } from 'commander'
import { NOT_FOUND } from '../../cli-error.ts'
import type { Api } from '../../connection/api.ts'

/** Rows of each list that a look reads: what ended last comes first. */
const ROWS_MAX = 100
/** Chains that may go on, or have just failed, and are read at each look. */
const CHAINS_MAX = 20
/** Calls that one look answers; the newest. */
const CALLS_PER_LOOK_MAX = 50
/** Jobs remembered, so that none is answered twice: more than all lists of a look can name. */
const SEEN_MAX = 10_000

/** A job whose call has ended, as it was read: the text has bytes that the parsed body has not. */
export interface EndedCall {
  readonly job: Job
  readonly text: string
}

export interface Look {
  /** In the order of their ends, oldest first. */
  readonly calls: readonly EndedCall[]
  /** Calls that ended since the look before and are not answered, as there were too many. */
  readonly skipped: number
  /** Whether more than `skipped` may be missing: the list did not go back as far. */
  readonly mayMissMore: boolean
}

/**
 * Finds the calls of a queue that have ended since the look before, retries among them. Owns which jobs it has seen, and
 * which chains may go on. A look that throws has seen no more than before, so the next one finds the same.
 */
export class EndedCalls {
  readonly #api: Api
  readonly #queue: string
  /** Ids, the longest unseen first. */
  readonly #seen = new Set<number>()
  /** Originals whose chains went on at the last look. */
  #goingOn: readonly number[] = []
  #hasBegun = false

  constructor(api: Api, queue: string) {
    this.#api = api
    this.#queue = queue
  }

  /** Sees what has ended before anybody asked. */
  async begin(signal: AbortSignal): Promise<void> {
    this.#see(await this.#ended(signal))
    this.#hasBegun = true
  }

  async look(signal: AbortSignal): Promise<Look> {
    const ended = await this.#ended(signal)
    const newest = ended.jobs.toSorted(byEnd).slice(-CALLS_PER_LOOK_MAX)
    const calls: EndedCall[] = []
    for (const { job_id: id } of newest) {
      const call = await this.#read(id, signal)
      if (call !== null) calls.push(call)
    }
    this.#see(ended)
    return { calls, skipped: ended.jobs.length - newest.length, mayMissMore: ended.mayMissMore }
  }

  async #ended(signal: AbortSignal): Promise<Ended> {
    const completed = await this.#list('completed', signal)
    const failed = await this.#list('failed', signal)
    const isNew = ({ job_id: id }: JobSummary): boolean => !this.#seen.has(id)
    const goingOn = failed.filter(({ has_pending_retry: goesOn }) => goesOn).map(({ job_id: id }) => id)
    const justFailed = this.#hasBegun ? failed.filter(isNew).map(({ job_id: id }) => id) : []
    const chains = await this.#chainsOf([...this.#goingOn, ...goingOn, ...justFailed], signal)
    const listed = [...completed, ...failed]
    const jobs = new Map([...listed, ...chains].filter(isNew).map((job) => [job.job_id, job]))
    return {
      jobs: [...jobs.values()],
      listed,
      goingOn: goingOn.slice(0, CHAINS_MAX),
      mayMissMore: [completed, failed].some((list) => list.length >= ROWS_MAX && list.every(isNew)),
    }
  }

  async #list(status: 'completed' | 'failed', signal: AbortSignal): Promise<readonly JobSummary[]> {
    const given = { queue: this.#queue, status, limit: ROWS_MAX }
    return (await this.#api.send('listJobs', given, { signal })).body.jobs
  }

  /** The jobs of chains that have ended: a list has one row of a chain. @param ids of the originals */
  async #chainsOf(ids: readonly number[], signal: AbortSignal): Promise<readonly JobSummary[]> {
    const ended: JobSummary[] = []
    for (const id of [...new Set(ids)].slice(0, CHAINS_MAX)) {
      const call = await this.#read(id, signal)
      ended.push(...(call?.job.chain ?? []).filter(({ completed_at: at }) => at !== null))
    }
    return ended
  }

  /** null = it was deleted meanwhile. */
  async #read(id: number, signal: AbortSignal): Promise<EndedCall | null> {
    try {
      const { body, text } = await this.#api.send('readJob', { job_id: id }, { signal })
      return { job: body, text }
    } catch (fault) {
      if (fault instanceof CommanderError && fault.exitCode === NOT_FOUND) return null
      throw fault
    }
  }

  /** What is listed stays known for as long as it is. */
  #see({ jobs, listed, goingOn }: Ended): void {
    this.#goingOn = goingOn
    for (const { job_id: id } of [...jobs, ...listed]) {
      this.#seen.delete(id)
      this.#seen.add(id)
    }
    for (const id of this.#seen) {
      if (this.#seen.size <= SEEN_MAX) break
      this.#seen.delete(id)
    }
  }
}

interface Ended {
  /** Those that were not seen before. */
  readonly jobs: readonly JobSummary[]
  readonly listed: readonly JobSummary[]
  readonly goingOn: readonly number[]
  readonly mayMissMore: boolean
}

function byEnd(a: JobSummary, b: JobSummary): number {
  return Date.parse(a.completed_at ?? '') - Date.parse(b.completed_at ?? '')
}
