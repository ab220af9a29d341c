import type { IncomingMessage } from 'node:http'
import { MIMEType } from 'node:util'
import { INTAKE_BYTES_DEFAULT, REQUEST_BODY_BYTES_MAX, RETRY_AFTER_SECONDS } from '../domain/limits.ts'
import { answerError } from './answers.ts'
import { BodyBudget } from './body-budget.ts'
import { BodyPace } from './bounds/body-pace.ts'
import {
  awaitsContinue,
  CLOSE_CONNECTION,
  type Exchange,
  type Rejection,
  type RequestRejector,
} from './request-rejector.ts'
import type { Clock } from '../ports/runtime.ts'
import type { StallDetector, WatchedBody } from './stall-detector.ts'
import type { Link } from '../domain/linked-list.ts'

/** Reserved at a time for a body of unknown length. */
const RESERVED_STEP_BYTES = 64 * 1024

const EMPTY = Buffer.alloc(0)

export interface TeamExchange extends Exchange {
  readonly team: string
}

/** Bytes stay reserved until the promise settles. */
export type BodyHandler = (body: Buffer) => Promise<void> | undefined

interface BodyReaderOptions {
  readonly stalls: StallDetector
  readonly rejector: RequestRejector
  readonly clock: Pick<Clock, 'nextTurn'>
  readonly bytesMax?: number | undefined
}

/** Reads request bodies within a budget of bytes and gives up those that stall. */
export class BodyReader {
  readonly #stalls: StallDetector
  readonly #rejector: RequestRejector
  readonly #budget: BodyBudget
  readonly #pace: BodyPace

  /** @param options.bytesMax of all bodies that are being read or wait for the job store */
  constructor({ stalls, rejector, clock, bytesMax = INTAKE_BYTES_DEFAULT }: BodyReaderOptions) {
    this.#stalls = stalls
    this.#rejector = rejector
    this.#budget = new BodyBudget(bytesMax)
    this.#pace = new BodyPace(clock)
  }

  /**
   * Reads a JSON body of at most `bytesMax`, 1 MiB unless said otherwise, and passes it to `onBody`; or answers 413, 415, 429 when the team has used up its
   * share of the budget, or 503 when the budget is used up, in this order. A client that disconnects gets neither.
   */
  read(exchange: TeamExchange, onBody: BodyHandler, bytesMax = REQUEST_BODY_BYTES_MAX): void {
    const { team, request, response } = exchange
    const declared = declaredBytes(request)
    const problem = declared !== null && declared > bytesMax ? tooLarge(bytesMax) : mediaTypeProblem(request)
    if (problem !== null) return this.#rejector.reject(exchange, problem)
    const reserved = declared ?? RESERVED_STEP_BYTES
    const answer = this.#budget.reserve(team, reserved)
    if (answer !== 'granted') return this.#rejector.reject(exchange, OVER_BUDGET[answer])
    if (awaitsContinue(request)) response.writeContinue()
    const parts = {
      exchange,
      budget: this.#budget,
      pace: this.#pace,
      stalls: this.#stalls,
      rejector: this.#rejector,
      onBody,
      bytesMax,
    }
    new BodyReading(parts, reserved).start()
  }
}

interface ReadingParts {
  readonly exchange: TeamExchange
  readonly budget: BodyBudget
  readonly pace: BodyPace
  readonly stalls: StallDetector
  readonly rejector: RequestRejector
  readonly onBody: BodyHandler
  readonly bytesMax: number
}

/**
 * Reads one body. Owns the bytes it has reserved.
 *
 *     reading → handled (read to its end) | rejected (too large, over budget, stalled) | closed (by the client)
 *
 * The bytes are released when reading ends; when it is `handled`, once the handler has finished. The listeners stay
 * attached: removing them would cost every push more than the check of `#hasEnded`.
 */
class BodyReading {
  readonly #parts: ReadingParts
  readonly #watched: Link<WatchedBody>
  #reservedBytes: number
  #hasEnded = false
  /** Read by the stall detector. */
  receivedBytes = 0
  isPaused = false
  #first: Buffer = EMPTY
  #more: Buffer[] | null = null

  constructor(parts: ReadingParts, reservedBytes: number) {
    this.#parts = parts
    this.#reservedBytes = reservedBytes
    this.#watched = parts.stalls.add(this)
  }

  start(): void {
    const { exchange } = this.#parts
    exchange.request.on('data', (chunk: Buffer) => {
      if (!this.#hasEnded) this.#onData(chunk)
    })
    exchange.request.on('end', () => {
      if (!this.#hasEnded) this.#onEnd()
    })
    exchange.request.on('close', () => {
      if (!this.#hasEnded) this.#abort()
    })
  }

  onStalled(): void {
    this.#abort()
    answerError(this.#parts.exchange.response, 408, 'The request body arrived too slowly', CLOSE_CONNECTION)
  }

  #onData(chunk: Buffer): void {
    this.receivedBytes += chunk.length
    const { bytesMax } = this.#parts
    const rejection = this.receivedBytes > bytesMax ? tooLarge(bytesMax) : this.#reserveMore()
    if (rejection !== null) {
      this.#abort()
      this.#parts.rejector.reject(this.#parts.exchange, rejection)
    } else if (this.#first === EMPTY) this.#first = chunk
    else {
      ;(this.#more ??= [this.#first]).push(chunk)
      this.#keepPace(chunk.length)
    }
  }

  /** Counts the bytes of a body of several chunks, and pauses it when it has to wait. */
  #keepPace(bytes: number): void {
    const { pace, exchange } = this.#parts
    const { team, request } = exchange
    const goOn = (): void => {
      this.isPaused = false
      request.resume()
    }
    if (pace.take(team, bytes, goOn)) return
    this.isPaused = true
    request.pause()
  }

  #onEnd(): void {
    this.#stop()
    const body = this.#more === null ? this.#first : Buffer.concat(this.#more, this.receivedBytes)
    const release = (): void => this.#release()
    let handled: Promise<void> | undefined
    try {
      handled = this.#parts.onBody(withoutByteOrderMark(body))
    } finally {
      if (handled === undefined) release()
      else void handled.then(release, release)
    }
  }

  #reserveMore(): Rejection | null {
    const lacking = this.receivedBytes - this.#reservedBytes
    if (lacking <= 0) return null
    const bytes = Math.max(lacking, RESERVED_STEP_BYTES)
    const answer = this.#parts.budget.reserve(this.#parts.exchange.team, bytes)
    if (answer !== 'granted') return OVER_BUDGET[answer]
    this.#reservedBytes += bytes
    return null
  }

  #abort(): void {
    this.#stop()
    this.#release()
    this.#first = EMPTY
    this.#more = null
  }

  #stop(): void {
    this.#hasEnded = true
    this.#parts.stalls.remove(this.#watched)
  }

  #release(): void {
    this.#parts.budget.release(this.#parts.exchange.team, this.#reservedBytes)
  }
}

/** A reader may pass over the mark, and says so for interoperability (RFC 8259 §8.1): some clients write it always. */
function withoutByteOrderMark(body: Buffer): Buffer {
  return body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? body.subarray(3) : body
}

function tooLarge(bytesMax: number): Rejection {
  return { status: 413, error: `The request body must not be larger than ${bytesMax} bytes` }
}

const RETRY: Rejection['headers'] = ['Retry-After', String(RETRY_AFTER_SECONDS)]
const OVER_BUDGET: Readonly<Record<'team' | 'full', Rejection>> = {
  team: { status: 429, error: 'This team is sending too many bytes at once, try again', headers: RETRY },
  full: { status: 503, error: 'The API is receiving too many bytes at once, try again', headers: RETRY },
}

/** null when the body is chunked: its length is known at its end. */
function declaredBytes({ headers }: IncomingMessage): number | null {
  if (headers['transfer-encoding'] !== undefined) return null
  return Number(headers['content-length'] ?? 0)
}

const OTHER_TYPE: Rejection = { status: 415, error: 'The content type must be application/json' }
const OTHER_CHARSET: Rejection = { status: 415, error: 'The charset of the content must be utf-8' }
const ENCODED: Rejection = { status: 415, error: 'The content must not be encoded' }

function mediaTypeProblem({ headers }: IncomingMessage): Rejection | null {
  const type = headers['content-type']
  const problem = type === 'application/json' ? null : typeProblem(type ?? '')
  if (problem !== null) return problem
  const encoding = headers['content-encoding']
  return encoding === undefined || encoding === 'identity' ? null : ENCODED
}

const UTF_8 = /^utf-?8$/i

/** Parameters that a media type does not define make no other type of it (RFC 9110 §8.3, RFC 8259 §11). */
function typeProblem(text: string): Rejection | null {
  const type = parsedType(text)
  if (type?.essence !== 'application/json') return OTHER_TYPE
  return UTF_8.test(type.params.get('charset') ?? 'utf-8') ? null : OTHER_CHARSET
}

function parsedType(text: string): MIMEType | null {
  try {
    return new MIMEType(text)
  } catch {
    return null
  }
}

/** Joins the values of a header that was given several times. */
export function headerText(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(', ') : value
}
