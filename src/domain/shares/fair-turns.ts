import { FairPlaces } from './fair-places.ts'

/** One holder may have so much of what runs, and of what waits, while nobody else wants it. */
const HOLDER_SHARE = 0.8

interface TurnClock {
  /** @returns a function that cancels it */
  after(ms: number, run: () => void): () => void
}

interface Turn {
  readonly begin: (leave: () => void) => void
}

export interface TurnBounds {
  readonly atOnce: number
  readonly waiting: number
  readonly waitMs: number
}

/** There is no place to wait, or it took too long. */
export class NoTurnError extends Error {}

/**
 * Work of which only some runs at once. The rest waits, and its holders take turns: neither what runs nor what waits can all
 * be one holder's. Owns a timer for all that waits.
 */
export class FairTurns {
  readonly #clock: TurnClock
  readonly #waitMs: number
  readonly #running: FairPlaces<'holder'>
  readonly #queueing: FairPlaces<'holder'>
  /** Waiting turns by holder; the holder that is next comes first. */
  readonly #waiting = new Map<string, Turn[]>()

  constructor(clock: TurnClock, { atOnce, waiting, waitMs }: TurnBounds) {
    this.#clock = clock
    this.#waitMs = waitMs
    this.#running = new FairPlaces({ places: atOnce, shares: { holder: HOLDER_SHARE } })
    this.#queueing = new FairPlaces({ places: waiting, shares: { holder: HOLDER_SHARE } })
  }

  /** Begins at once where there is a place. Throws NoTurnError, and what the work throws. */
  async run<T>(holder: string, work: () => Promise<T>): Promise<T> {
    const place = this.#running.take({ holder })
    const leave = place.kind === 'granted' ? place.leave : await this.#wait(holder)
    try {
      return await work()
    } finally {
      leave()
      this.#passOn()
    }
  }

  #wait(holder: string): Promise<() => void> {
    const place = this.#queueing.take({ holder })
    if (place.kind !== 'granted') return Promise.reject(new NoTurnError('too many are waiting'))
    return new Promise((resolve, reject) => {
      const cancel = this.#clock.after(this.#waitMs, () => {
        this.#remove(holder, turn)
        place.leave()
        reject(new NoTurnError('it waited for too long'))
      })
      const turn: Turn = {
        begin: (leave) => {
          cancel()
          place.leave()
          resolve(leave)
        },
      }
      const turns = this.#waiting.get(holder)
      if (turns === undefined) this.#waiting.set(holder, [turn])
      else turns.push(turn)
    })
  }

  /** Begins all that may begin. */
  #passOn(): void {
    while (this.#beginOne());
  }

  #beginOne(): boolean {
    for (const [holder, [turn]] of this.#waiting) {
      const place = this.#running.take({ holder })
      if (place.kind !== 'granted' || turn === undefined) continue
      this.#remove(holder, turn)
      turn.begin(place.leave)
      return true
    }
    return false
  }

  /** The holder goes to the end of the line. */
  #remove(holder: string, turn: Turn): void {
    const left = (this.#waiting.get(holder) ?? []).filter((one) => one !== turn)
    this.#waiting.delete(holder)
    if (left.length > 0) this.#waiting.set(holder, left)
  }
}
