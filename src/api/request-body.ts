import type { IncomingMessage } from 'node:http'
import { INTAKE_BYTES_DEFAULT, REQUEST_BODY_BYTES_MAX, RETRY_AFTER_SECONDS } from '../domain/limits.ts'
import type { Clock } from '../ports/runtime.ts'
import { answerError } from './answers.ts'
import { createBodyBudget, type BodyBudget } from './body-budget.ts'
import { createBodyWatch, type BodyWatch } from './body-watch.ts'
import {
  awaitsContinue,
  createRefuser,
  HANG_UP,
  type Exchange,
  type Refusal,
  type Refuser,
} from './refuser.ts'

/** What a body of unknown length reserves at a time. */
const RESERVED_STEP_BYTES = 64 * 1024

const EMPTY = Buffer.alloc(0)

export interface TeamExchange extends Exchange {
  readonly team: string
}

/** May answer when it is done with the body, whose bytes count until then. */
export type BodyHandler = (body: Buffer) => Promise<void> | undefined

/** Reads bodies within a budget of bytes, and gives up those that stall. */
export interface BodyReader extends Refuser {
  /**
   * Reads a JSON body of at most 1 MiB and hands it to `onBody`, or answers 413, 415, 429 when the team has too much
   * under way or 503 when all teams have, in this order. Nothing is called when the client goes away.
   */
  read(exchange: TeamExchange, onBody: BodyHandler): void
}

/** @param bytesMax of all bodies that are read or wait for the store */
export function createBodyReader(clock: Clock, bytesMax = INTAKE_BYTES_DEFAULT): BodyReader {
  const budget = createBodyBudget(bytesMax)
  const watch = createBodyWatch(clock)
  const refuser = createRefuser(watch)
  return {
    ...refuser,
    read: (exchange, onBody) => {
      const { team, request, response } = exchange
      const declared = declaredBytes(request)
      const mistake =
        declared !== null && declared > REQUEST_BODY_BYTES_MAX ? TOO_LARGE : mediaTypeMistake(request)
      if (mistake !== null) return refuser.refuse(exchange, mistake)
      const reserved = declared ?? RESERVED_STEP_BYTES
      const answer = budget.reserve(team, reserved)
      if (answer !== 'granted') return refuser.refuse(exchange, NO_ROOM[answer])
      if (awaitsContinue(request)) response.writeContinue()
      new BodyReading({ exchange, budget, watch, refuser, onBody }, reserved).start()
    },
  }
}

interface ReadingParts {
  readonly exchange: TeamExchange
  readonly budget: BodyBudget
  readonly watch: BodyWatch
  readonly refuser: Refuser
  readonly onBody: BodyHandler
}

/**
 * One body. Owns what it has reserved.
 *
 *     reading → handled (its end came) | refused (too large, no room, stalled) | gone (the client)
 *
 * What is reserved is given back when reading ends, but for `handled` when the handler is done. Its listeners stay, as
 * taking them off would cost each push more than asking whether it is over.
 */
class BodyReading {
  readonly #parts: ReadingParts
  #reservedBytes: number
  #isOver = false
  /** Counted by the watch too. */
  receivedBytes = 0
  #first: Buffer = EMPTY
  #more: Buffer[] | null = null

  constructor(parts: ReadingParts, reservedBytes: number) {
    this.#parts = parts
    this.#reservedBytes = reservedBytes
  }

  start(): void {
    const { watch, exchange } = this.#parts
    watch.add(this)
    exchange.request.on('data', (chunk: Buffer) => {
      if (!this.#isOver) this.#onData(chunk)
    })
    exchange.request.on('end', () => {
      if (!this.#isOver) this.#onEnd()
    })
    exchange.request.on('close', () => {
      if (!this.#isOver) this.#giveUp()
    })
  }

  onStalled(): void {
    this.#giveUp()
    answerError(this.#parts.exchange.response, 408, 'The body came too slowly', HANG_UP)
  }

  #onData(chunk: Buffer): void {
    this.receivedBytes += chunk.length
    const refusal = this.receivedBytes > REQUEST_BODY_BYTES_MAX ? TOO_LARGE : this.#reserveMore()
    if (refusal !== null) {
      this.#giveUp()
      this.#parts.refuser.refuse(this.#parts.exchange, refusal)
    } else if (this.#first === EMPTY) this.#first = chunk
    else (this.#more ??= [this.#first]).push(chunk)
  }

  #onEnd(): void {
    this.#stop()
    const body = this.#more === null ? this.#first : Buffer.concat(this.#more, this.receivedBytes)
    const release = (): void => this.#release()
    let handled: Promise<void> | undefined
    try {
      handled = this.#parts.onBody(body)
    } finally {
      if (handled === undefined) release()
      else void handled.then(release, release)
    }
  }

  #reserveMore(): Refusal | null {
    const lacking = this.receivedBytes - this.#reservedBytes
    if (lacking <= 0) return null
    const bytes = Math.max(lacking, RESERVED_STEP_BYTES)
    const answer = this.#parts.budget.reserve(this.#parts.exchange.team, bytes)
    if (answer !== 'granted') return NO_ROOM[answer]
    this.#reservedBytes += bytes
    return null
  }

  #giveUp(): void {
    this.#stop()
    this.#release()
    this.#first = EMPTY
    this.#more = null
  }

  #stop(): void {
    this.#isOver = true
    this.#parts.watch.remove(this)
  }

  #release(): void {
    this.#parts.budget.release(this.#parts.exchange.team, this.#reservedBytes)
  }
}

const TOO_LARGE: Refusal = {
  status: 413,
  error: `The body must not be greater than ${REQUEST_BODY_BYTES_MAX} bytes`,
}
const RETRY: Refusal['headers'] = ['Retry-After', String(RETRY_AFTER_SECONDS)]
const NO_ROOM: Readonly<Record<'team' | 'full', Refusal>> = {
  team: { status: 429, error: 'Too many bytes of this team are under way, try again', headers: RETRY },
  full: { status: 503, error: 'Too many bytes are under way, try again', headers: RETRY },
}

/** null when it is not known before the end: the body comes in chunks. */
function declaredBytes({ headers }: IncomingMessage): number | null {
  if (headers['transfer-encoding'] !== undefined) return null
  return Number(headers['content-length'] ?? 0)
}

const JSON_TYPE = /^application\/json[ \t]*(?:;[ \t]*charset=(?:utf-8|"utf-8")[ \t]*)?$/i
const OTHER_TYPE: Refusal = { status: 415, error: 'The content type must be application/json' }
const ENCODED: Refusal = { status: 415, error: 'The content must not be encoded' }

function mediaTypeMistake({ headers }: IncomingMessage): Refusal | null {
  const type = headers['content-type']
  if (type !== 'application/json' && !JSON_TYPE.test(type ?? '')) return OTHER_TYPE
  const encoding = headers['content-encoding']
  return encoding === undefined || encoding === 'identity' ? null : ENCODED
}

/** A header that came several times is one list. */
export function headerText(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(', ') : value
}
