import { SUSPECTS_OF_ONE_TEAM_MAX, SUSPECTS_SHARE } from '../../../../domain/limits.ts'

/** What all suspects of a cohort have in common: their losses and, from two losses on, their team. */
export interface SuspectTraits {
  readonly losses: number
  readonly team: string
}

/** What one claim of suspects may take. */
export interface SuspectHeadroom {
  /** The traits of the cohort that the jobs join; null = the cohort is empty. */
  readonly traits: SuspectTraits | null
  readonly jobsMax: number
  /** How many jobs with two losses may be claimed. */
  readonly cohortMax: number
}

/** A cohort may be refilled this many times its size. Then all must end, so that other suspects get a chance. */
const REFILLS_MAX = 4

/**
 * Bounds the suspects that an executor runs at once, over all shards. If the executor dies, the cause is among them or
 * among the jobs that are no suspects, so a cohort is small, and the smaller the more its jobs have lost. Owns the
 * cohort and whose claim is open; `claim_suspects` decides who may run together.
 */
export class SuspectCohort {
  readonly #sizeMax: number
  /** Members by the source that claimed them. */
  readonly #members = new Map<object, Set<string>>()
  #size = 0
  /** How many members have joined since the cohort was last empty. */
  #joined = 0
  #traits: SuspectTraits | null = null
  #asking: object | null = null
  #lastSource: object | null = null
  /** true = another source was refused since the last claim. */
  #othersWait = false

  /** @param calls how many its executor may have at once */
  constructor(calls: number) {
    this.#sizeMax = Math.max(1, Math.floor(calls * SUSPECTS_SHARE))
  }

  /** null = no suspect may join. Otherwise all other sources are refused until `answered`. */
  ask(source: object): SuspectHeadroom | null {
    if (this.#asking !== null) return this.#refuse(source)
    if (this.#size === 0) {
      if (source === this.#lastSource && this.#othersWait) {
        this.#othersWait = false
        return null
      }
      this.#asking = source
      return { traits: null, jobsMax: this.#sizeMax, cohortMax: SUSPECTS_OF_ONE_TEAM_MAX }
    }
    const left = this.#left()
    if (left <= 0 || this.#joined >= this.#sizeMax * REFILLS_MAX) return this.#refuse(source)
    this.#asking = source
    return { traits: this.#traits, jobsMax: left, cohortMax: left }
  }

  /** @param jobs those that were claimed */
  answered(source: object, jobs: readonly string[], traits: SuspectTraits): void {
    if (this.#asking === source) this.#asking = null
    if (jobs.length === 0) return
    if (this.#size === 0) {
      this.#traits = traits
      this.#joined = 0
      this.#lastSource = source
      this.#othersWait = false
    }
    const known = this.#members.get(source) ?? new Set()
    for (const job of jobs) known.add(job)
    this.#members.set(source, known)
    this.#joined += jobs.length
    this.#count()
  }

  ended(source: object, job: string): void {
    if (this.#members.get(source)?.delete(job) === true) this.#count()
  }

  /** Called when the source holds nothing any more. */
  forget(source: object): void {
    this.#members.delete(source)
    if (this.#asking === source) this.#asking = null
    if (this.#lastSource === source) this.#lastSource = null
    this.#count()
  }

  #left(): number {
    if (this.#traits?.losses === 1) return this.#sizeMax - this.#size
    return this.#traits?.losses === 2 ? SUSPECTS_OF_ONE_TEAM_MAX - this.#size : 0
  }

  #refuse(source: object): null {
    if (source !== this.#lastSource) this.#othersWait = true
    return null
  }

  #count(): void {
    this.#size = 0
    for (const jobs of this.#members.values()) this.#size += jobs.size
  }
}
