import { LinkedList, type Link } from '../domain/linked-list.ts'
import type { Clock } from '../ports/runtime.ts'

/** One check of all bodies per second: a timer per request would cost every push. */
const CHECK_MS = 1_000
/** A body that sent nothing between this many checks in a row has stalled. */
const SILENT_CHECKS_MAX = 5
/** The minimum rate applies after these checks: a byte now and then is no progress. */
const CHECKS_BEFORE_RATE = 5
/** The largest body within the server's request timeout. */
const BYTES_PER_CHECK_MIN = 32 * 1024

export interface DetectedBody {
  /** Kept up to date by the reader of the body. */
  receivedBytes: number
  /** true = we do not read it now, so nothing can come. */
  readonly isPaused?: boolean
  onStalled(): void
}

/** A body, and what the checks have seen of it. */
export interface WatchedBody {
  readonly body: DetectedBody
  checks: number
  silentChecks: number
  seenBytes: number
}

/** Finds request bodies that stopped arriving or arrive too slowly. Owns one timer, and only while it has bodies. */
export class StallDetector {
  readonly #clock: Clock
  readonly #bodies = new LinkedList<WatchedBody>()
  #isScheduled = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** @returns what `remove` takes */
  add(body: DetectedBody): Link<WatchedBody> {
    if (!this.#isScheduled) this.#schedule()
    return this.#bodies.append({ body, checks: 0, silentChecks: 0, seenBytes: 0 })
  }

  /** Idempotent; a body that has stalled may be removed as well. */
  remove(link: Link<WatchedBody>): void {
    this.#bodies.remove(link)
  }

  #schedule(): void {
    this.#isScheduled = true
    this.#clock.after(CHECK_MS, () => this.#check())
  }

  #check(): void {
    for (const link of this.#bodies.links()) {
      if (!isStalled(link.value)) continue
      this.remove(link)
      link.value.body.onStalled()
    }
    this.#isScheduled = false
    if (this.#bodies.length > 0) this.#schedule()
  }
}

/** Counts checks rather than time, and none while we do not read, so that no client is blamed for a pause of this process. */
function isStalled(watched: WatchedBody): boolean {
  if (watched.body.isPaused === true) return false
  const { receivedBytes } = watched.body
  watched.checks += 1
  watched.silentChecks = receivedBytes === watched.seenBytes ? watched.silentChecks + 1 : 0
  watched.seenBytes = receivedBytes
  if (watched.silentChecks >= SILENT_CHECKS_MAX) return true
  return receivedBytes < (watched.checks - CHECKS_BEFORE_RATE) * BYTES_PER_CHECK_MIN
}
