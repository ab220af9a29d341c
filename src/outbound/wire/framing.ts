import { KEEP_ALIVE_MARGIN_MS, KEEP_ALIVE_MS, KEEP_ALIVE_MS_MAX } from '../bounds.ts'
import { trimmed } from './blanks.ts'

/** How a body ends: after so many bytes, with its last chunk, or with the connection. */
export type BodyEnd = number | 'last_chunk' | 'connection'

/** Fewer digits than a safe integer has. */
const LENGTH = /^\d{1,15}$/
const KEEP_ALIVE_TIMEOUT = /(?:^|[,;\s])timeout\s*=\s*(\d{1,6})/i
/** Responses that have no body, whatever their headers say (RFC 9112 §6.3). */
const STATUSES_WITHOUT_BODY = new Set([204, 304])

/**
 * What the headers say of the body's end and of the connection. A response that two readers could cut differently is taken
 * as well, with a note of what is wrong, and its connection is not used again.
 */
export class Framing {
  readonly #isHttp10: boolean
  #contentLength: number | null = null
  #codings: string[] = []
  #closes = false
  #keepsAlive: boolean
  #keepAliveMs = KEEP_ALIVE_MS
  #isEndSure = true
  #notes: string[] | null = null

  constructor(isHttp10: boolean) {
    this.#isHttp10 = isHttp10
    this.#keepsAlive = !isHttp10
  }

  /** null = nothing is wrong. */
  get notes(): readonly string[] | null {
    return this.#notes
  }

  /** Whether the body ends where `bodyEndOf` says; false = it may go on, or end before. */
  get isEndSure(): boolean {
    return this.#isEndSure
  }

  /** @param name `connection`, `content-length`, `keep-alive` or `transfer-encoding` */
  take(name: string, value: string): void {
    switch (name) {
      case 'content-length':
        if (LENGTH.test(value)) this.#takeLength(Number(value))
        else this.#takeLengths(value)
        break
      case 'transfer-encoding':
        for (const coding of value.toLowerCase().split(',')) this.#codings.push(trimmed(coding, 0))
        break
      case 'connection':
        this.#takeConnection(value)
        break
      default:
        this.#takeKeepAlive(value)
    }
  }

  /** Must be called once, when all headers are taken: it notes what does not fit together. */
  bodyEndOf(status: number): BodyEnd {
    const bodyEnd = this.#bodyEnd()
    if (!STATUSES_WITHOUT_BODY.has(status)) return bodyEnd
    // A 304 may tell of the body that another status would have had.
    if (status === 204 && (this.#codings.length > 0 || (this.#contentLength ?? 0) > 0)) {
      this.#note('A 204 announces a body, which it cannot have.')
    }
    return 0
  }

  /** How long the connection may idle after the response; 0 if it cannot be used again. */
  keepAliveMsAfter(bodyEnd: BodyEnd): number {
    if (this.#notes !== null || this.#closes || !this.#keepsAlive || bodyEnd === 'connection') return 0
    // A server of HTTP/1.0 knows no codings, so where this body ends is not certain (RFC 9112 §6.1).
    if (this.#isHttp10 && this.#codings.length > 0) return 0
    return this.#keepAliveMs
  }

  #note(text: string): void {
    this.#notes ??= []
    if (!this.#notes.includes(text)) this.#notes.push(text)
  }

  /** The same length said twice is one length (RFC 9112 §6.3). */
  #takeLength(length: number): void {
    if (this.#contentLength !== null && this.#contentLength !== length) {
      this.#note('Content-Length has several values: the lowest is used.')
      this.#isEndSure = false
    }
    this.#contentLength = Math.min(this.#contentLength ?? length, length)
  }

  #takeLengths(value: string): void {
    for (const part of value.split(',')) {
      const text = trimmed(part, 0)
      if (LENGTH.test(text)) this.#takeLength(Number(text))
      else {
        this.#note('Content-Length is not a number.')
        this.#isEndSure = false
      }
    }
  }

  #takeConnection(value: string): void {
    for (const option of value.toLowerCase().split(',')) {
      const word = trimmed(option, 0)
      if (word === 'close') this.#closes = true
      else if (word === 'keep-alive') this.#keepsAlive = true
    }
  }

  #takeKeepAlive(value: string): void {
    const timeout = KEEP_ALIVE_TIMEOUT.exec(value)
    if (timeout === null) return
    const ms = Number(timeout[1]) * 1_000 - KEEP_ALIVE_MARGIN_MS
    this.#keepAliveMs = Math.max(0, Math.min(ms, KEEP_ALIVE_MS_MAX))
  }

  #bodyEnd(): BodyEnd {
    if (this.#codings.length === 0) return this.#contentLength ?? 'connection'
    if (this.#codings.includes('identity')) {
      this.#note('Transfer-Encoding names identity, which is not a coding.')
      this.#codings = this.#codings.filter((coding) => coding !== 'identity')
      if (this.#codings.length === 0) return this.#contentLength ?? 'connection'
    }
    if (this.#contentLength !== null) {
      this.#note('Content-Length is sent with Transfer-Encoding and is ignored.')
    }
    return this.#codedBodyEnd()
  }

  /** RFC 9112 §6.3: a body that is not chunked last ends with its connection. */
  #codedBodyEnd(): BodyEnd {
    const chunkedAt = this.#codings.indexOf('chunked')
    if (chunkedAt === -1) return 'connection'
    const behind = this.#codings.slice(chunkedAt + 1)
    if (behind.length === 0) return 'last_chunk'
    if (behind.every((coding) => coding === 'chunked')) {
      this.#note('Transfer-Encoding names chunked twice.')
      return 'last_chunk'
    }
    this.#note('Transfer-Encoding names a coding after chunked.')
    this.#isEndSure = false
    return 'connection'
  }
}
