import type { IncomingMessage, ServerResponse } from 'node:http'
import { RETRY_AFTER_SECONDS } from '../../domain/limits.ts'
import { ShedLimit } from '../../domain/shares/shed-limit.ts'
import type { RequestMetrics } from '../../ports/metrics.ts'
import type { Clock, Logger } from '../../ports/runtime.ts'
import { type Exchange, type Rejection, type RequestRejector, awaitsContinue } from '../request-rejector.ts'

/** How often the event loop is measured while there are pushes; a turn is longer by as much than a timer is late. */
const TICK_MS = 5
/** Bytes of a body for which a request takes one place: a job in a batch has some hundred. */
const PLACE_BYTES = 1024
/** As large as a body may be. */
const PLACES_BYTES_MAX = 1024 * 1024
/** A body of at most this size is left to node:http, which discards it with less work than we would have. */
const LEFT_BODY_BYTES = 16 * 1024
const REJECTION: Rejection = {
  status: 503,
  error: 'More pushes arrive than the API can take, try again',
  headers: ['Retry-After', String(RETRY_AFTER_SECONDS)],
}
const BODY = JSON.stringify({ error: REJECTION.error })
/** Made once: under overload most of the work is to refuse. */
const HEADERS = [
  'Content-Type',
  'application/json',
  'Content-Length',
  String(BODY.length),
  'X-Content-Type-Options',
  'nosniff',
  'Cache-Control',
  'no-store',
  'Retry-After',
  String(RETRY_AFTER_SECONDS),
]
const HELD = Symbol('places held')

interface Holding extends ServerResponse {
  [HELD]?: { readonly team: string; readonly places: number }
}

interface PushShedderParts {
  readonly clock: Clock
  readonly logger: Logger
  readonly requests: Pick<RequestMetrics, 'pushShed'>
}

/**
 * Refuses pushes while this process has more of them than it can take: before their bodies are read, and by how long those
 * under way have waited, in the sockets, for a turn of the event loop, and in the list for the job store. Owns the places
 * of the pushes under way, and one timer while there are any or it sheds.
 *
 *     taking everything ⇄ shedding (until nothing had to be refused for a second)
 */
export class PushShedder {
  readonly #parts: PushShedderParts
  readonly #limit: ShedLimit
  readonly #release: (this: ServerResponse) => void
  #isMeasuring = false
  #hadPush = false
  #wasShedding = false
  #shed = 0

  constructor(parts: PushShedderParts) {
    this.#parts = parts
    const limit = new ShedLimit(parts.clock.monotonicMs())
    this.#limit = limit
    this.#release = function release(this: Holding): void {
      const held = this[HELD]
      if (held !== undefined) limit.leave(held.team, held.places)
    }
  }

  /** Lets a push in, which then counts until its response has closed; or refuses it, and answers false. */
  admit({ request, response }: Exchange, team: string, rejector: RequestRejector): boolean {
    this.#hadPush = true
    if (!this.#isMeasuring) {
      this.#isMeasuring = true
      this.#limit.begin(this.#parts.clock.monotonicMs())
      this.#measure()
    }
    const bytes = Number(request.headers['content-length'] ?? 0)
    // What is declared and will be refused takes no more than the largest that is not.
    const places = 1 + Math.floor(Math.min(bytes, PLACES_BYTES_MAX) / PLACE_BYTES)
    if (this.#limit.enter(team, places)) {
      ;(response as Holding)[HELD] = { team, places }
      response.on('close', this.#release)
      return true
    }
    this.#shed += 1
    this.#parts.requests.pushShed()
    if (isLeftToNode(request, bytes)) response.writeHead(REJECTION.status, HEADERS).end(BODY)
    else rejector.reject({ request, response }, REJECTION)
    return false
  }

  /** Notes how long the oldest push has waited that the job store takes now; 0 = it takes all there are. */
  waitedInList(delayMs: number): void {
    this.#limit.waited('list', delayMs, this.#parts.clock.monotonicMs())
    this.#tell()
  }

  /** Measures by how much a timer is late, as long as there are pushes: that is what they wait for to be read. */
  #measure(): void {
    const { clock } = this.#parts
    const dueMs = clock.monotonicMs() + TICK_MS
    this.#hadPush = false
    clock.after(TICK_MS, () => {
      const nowMs = clock.monotonicMs()
      this.#limit.waited('loop', Math.max(0, nowMs - dueMs), nowMs)
      this.#tell()
      this.#isMeasuring = this.#hadPush || this.#limit.isShedding || !this.#limit.isIdle
      if (this.#isMeasuring) this.#measure()
    })
  }

  #tell(): void {
    const { isShedding } = this.#limit
    if (isShedding === this.#wasShedding) return
    this.#wasShedding = isShedding
    const { logger } = this.#parts
    if (isShedding) {
      logger.warn('Pushes are refused: more come than this API can take')
    } else {
      logger.info('Pushes are taken again', { refused: this.#shed })
      this.#shed = 0
    }
  }
}

function isLeftToNode(request: IncomingMessage, bytes: number): boolean {
  return (
    bytes <= LEFT_BODY_BYTES && request.headers['transfer-encoding'] === undefined && !awaitsContinue(request)
  )
}
