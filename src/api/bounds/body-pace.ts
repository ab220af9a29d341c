import type { Clock } from '../../ports/runtime.ts'

/** Bytes of large bodies that are taken in one turn of the event loop: some 0.5 ms. */
const TURN_BYTES = 256 * 1024

type Resume = () => void

/**
 * Lets large bodies come in at a pace that leaves the event loop to others: a socket that is full gives megabytes in one go, and a
 * client may fill many. Bodies that have to wait go on in later turns, those of teams by turns.
 */
export class BodyPace {
  readonly #clock: Pick<Clock, 'nextTurn'>
  /** The team that goes on next comes first. */
  readonly #waiting = new Map<string, Resume[]>()
  #takenBytes = 0
  #isScheduled = false

  constructor(clock: Pick<Clock, 'nextTurn'>) {
    this.#clock = clock
  }

  /** Counts bytes that have come. false = the body has to wait until `resume` is called. */
  take(team: string, bytes: number, resume: Resume): boolean {
    this.#takenBytes += bytes
    this.#schedule()
    if (this.#takenBytes <= TURN_BYTES) return true
    const own = this.#waiting.get(team)
    if (own === undefined) this.#waiting.set(team, [resume])
    else own.push(resume)
    return false
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    this.#clock.nextTurn(() => {
      this.#isScheduled = false
      this.#takenBytes = 0
      this.#goOn()
    })
  }

  /** Resumes as many bodies as one turn may read. */
  #goOn(): void {
    for (let bytes = 0; bytes < TURN_BYTES && this.#waiting.size > 0; bytes += CHUNK_BYTES) {
      const [next] = this.#waiting
      if (next === undefined) return
      const [team, resumes] = next
      const resume = resumes.shift()
      this.#waiting.delete(team)
      if (resumes.length > 0) this.#waiting.set(team, resumes)
      resume?.()
    }
    if (this.#waiting.size > 0) this.#schedule()
  }
}

/** Bytes that Node reads from a socket at once. */
const CHUNK_BYTES = 64 * 1024
