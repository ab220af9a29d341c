import { SUSPECTS_OF_ONE_TEAM_MAX, SUSPECTS_SHARE } from '../../../domain/limits.ts'

/** What one claim of suspects may take. */
export interface SuspectRoom {
  /** What those have in common whom it joins; null when there are none. */
  readonly kin: SuspectKin | null
  readonly most: number
  /** With two losses. */
  readonly few: number
}

/** Losses of those in a company, and, from two on, whose they are. */
export interface SuspectKin {
  readonly losses: number
  readonly team: string
}

/** So often its size may come to a company, before all must have ended and others have their turn. */
const REFILLS_MAX = 4

/**
 * The suspects that an executor has at once, over all its shards. Should it die, the cause is among them or among the
 * jobs that are no suspects, and of those each counts one loss: so there are few, and the fewer the more they have lost.
 * Owns: which there are, and whose claim is under way. execute/claim/claim_suspects.lua says who may be together.
 */
export class SuspectCompany {
  readonly #most: number
  /** By the source that claimed them. */
  readonly #members = new Map<object, Set<string>>()
  #size = 0
  #came = 0
  #kin: SuspectKin | null = null
  #asking: object | null = null
  #lastSource: object | null = null
  /** Others would have asked since. */
  #othersWait = false

  /** @param calls that its executor may have at once */
  constructor(calls: number) {
    this.#most = Math.max(1, Math.floor(calls * SUSPECTS_SHARE))
  }

  /** null while none may come. Else it is this source's turn until `answered`. */
  ask(source: object): SuspectRoom | null {
    if (this.#asking !== null) return this.#refuse(source)
    if (this.#size === 0) {
      if (source === this.#lastSource && this.#othersWait) {
        this.#othersWait = false
        return null
      }
      this.#asking = source
      return { kin: null, most: this.#most, few: SUSPECTS_OF_ONE_TEAM_MAX }
    }
    const room = this.#room()
    if (room <= 0 || this.#came >= this.#most * REFILLS_MAX) return this.#refuse(source)
    this.#asking = source
    return { kin: this.#kin, most: room, few: room }
  }

  /** @param jobs that were claimed */
  answered(source: object, jobs: readonly string[], kin: SuspectKin): void {
    if (this.#asking === source) this.#asking = null
    if (jobs.length === 0) return
    if (this.#size === 0) {
      this.#kin = kin
      this.#came = 0
      this.#lastSource = source
      this.#othersWait = false
    }
    const known = this.#members.get(source) ?? new Set()
    for (const job of jobs) known.add(job)
    this.#members.set(source, known)
    this.#came += jobs.length
    this.#count()
  }

  left(source: object, job: string): void {
    if (this.#members.get(source)?.delete(job) === true) this.#count()
  }

  /** It holds nothing any more. */
  forget(source: object): void {
    this.#members.delete(source)
    if (this.#asking === source) this.#asking = null
    if (this.#lastSource === source) this.#lastSource = null
    this.#count()
  }

  #room(): number {
    if (this.#kin?.losses === 1) return this.#most - this.#size
    return this.#kin?.losses === 2 ? SUSPECTS_OF_ONE_TEAM_MAX - this.#size : 0
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
