import type { Clock } from '../ports/runtime.ts'

/** One check of all bodies per second: a timer per request would cost every push. */
const CHECK_MS = 1_000
/** A body that sent nothing between this many checks in a row has stalled. */
const SILENT_CHECKS_MAX = 5
/** After these checks the minimum rate applies: a byte now and then is no progress. */
const CHECKS_BEFORE_RATE = 5
/** The largest body within the server's request timeout. */
const BYTES_PER_CHECK_MIN = 32 * 1024

export interface DetectedBody {
  /** Kept up to date by the reader of the body. */
  receivedBytes: number
  onStalled(): void
}

interface Progress {
  checks: number
  silentChecks: number
  seenBytes: number
}

/** Finds request bodies that stopped arriving or arrive too slowly. Owns one timer, and only while it has bodies. */
export class StallDetector {
  readonly #clock: Clock
  /** null until the first check: most bodies end before it. */
  readonly #bodies = new Map<DetectedBody, Progress | null>()
  #isScheduled = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  add(body: DetectedBody): void {
    this.#bodies.set(body, null)
    if (!this.#isScheduled) this.#schedule()
  }

  remove(body: DetectedBody): void {
    this.#bodies.delete(body)
  }

  #schedule(): void {
    this.#isScheduled = true
    this.#clock.after(CHECK_MS, () => this.#check())
  }

  #check(): void {
    for (const [body, known] of this.#bodies) {
      const progress = known ?? { checks: 0, silentChecks: 0, seenBytes: 0 }
      this.#bodies.set(body, progress)
      if (isStalled(body, progress)) {
        this.#bodies.delete(body)
        body.onStalled()
      }
    }
    this.#isScheduled = false
    if (this.#bodies.size > 0) this.#schedule()
  }
}

/** Counts checks rather than time, so that no client is blamed for a pause of this process. */
function isStalled(body: DetectedBody, progress: Progress): boolean {
  progress.checks += 1
  progress.silentChecks = body.receivedBytes === progress.seenBytes ? progress.silentChecks + 1 : 0
  progress.seenBytes = body.receivedBytes
  if (progress.silentChecks >= SILENT_CHECKS_MAX) return true
  return body.receivedBytes < (progress.checks - CHECKS_BEFORE_RATE) * BYTES_PER_CHECK_MIN
}
