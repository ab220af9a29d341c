import { RESPONSE_HEADER_BYTES_MAX } from '../../domain/limits.ts'
import { INTERIM_RESPONSES_MAX } from '../bounds.ts'
import { closedEarly, ConnectionFailedError, invalidResponse } from '../call-failure.ts'
import { ChunkedBody } from './chunked-body.ts'
import type { BodyEnd } from './framing.ts'
import { parseResponseHead } from './parse-head.ts'
import type { ResponseHead } from './response-head.ts'

/** Receives a response. After `onResponseEnd` or `onResponseCut` nothing more is called. */
export interface ResponseListener {
  /** The first bytes have arrived, those of 1xx responses left out. */
  onResponseBegin(): void
  onResponseHead(head: ResponseHead): void
  /** @param bytes a view of all that the socket read at once */
  onResponseBody(bytes: Buffer): void
  /**
   * @param keepAliveMs how long the connection may idle now; 0 if it cannot be used again
   * @param note what is wrong with the body, which is whole all the same; null = nothing
   */
  onResponseEnd(keepAliveMs: number, note: string | null): void
  /**
   * The body ends before its end, or where that is cannot be told any more. The connection cannot be used again.
   * @param note why
   */
  onResponseCut(note: string): void
}

const CR = 0x0d
const LF = 0x0a
const ONE = 0x31
const STATUS_START = 'HTTP/1.'
const STATUS_AT = 'HTTP/1.1 '.length

/**
 * Cuts the bytes of a connection into the responses of one request after the other, without their 1xx responses
 * (RFC 9110 §15.2):
 *
 *     idle → (a request begins) head ⇄ (1xx) → body → idle
 *
 * A listener that no longer wants its response calls `stop`.
 */
export class ResponseReader {
  #listener: ResponseListener | null = null
  #part: 'head' | 'body' | 'chunks' = 'head'
  /** The head so far, copied: the bytes are views of up to 64 KiB. Null if it began with the current bytes. */
  #held: Buffer | null = null
  #heldBytes = 0
  /** Offset in the head at which the current line begins. */
  #lineStart = 0
  #hasBegun = false
  #interims = 0
  #bodyEnd: BodyEnd = 0
  #bodyLeft = 0
  #isWithinBody = false
  #keepAliveMs = 0
  readonly #chunked = new ChunkedBody()

  /** Whether the head is read: whatever becomes of the body, the response has its status. */
  get isWithinBody(): boolean {
    return this.#isWithinBody
  }

  /** Whether a response is waited for or being read. */
  get isBusy(): boolean {
    return this.#listener !== null
  }

  /** The next bytes are a response. */
  begin(listener: ResponseListener): void {
    this.#listener = listener
    this.#isWithinBody = false
    this.#interims = 0
    this.#hasBegun = false
    this.#beginHead()
  }

  stop(): void {
    this.#listener = null
    this.#held = null
    this.#isWithinBody = false
  }

  /** @throws ConnectionFailedError if the bytes are no response */
  read(bytes: Buffer): void {
    let at = 0
    while (at < bytes.length) {
      const listener = this.#listener
      if (listener === null) return
      if (this.#part === 'head') at = this.#readHead(bytes, at, listener)
      else if (this.#part === 'chunks') at = this.#readChunksOrCut(bytes, at, listener)
      else at = this.#readBody(bytes, at, listener)
    }
  }

  /** The target has closed its side. @throws ConnectionFailedError if there is no whole head yet */
  readEnd(): void {
    const listener = this.#listener
    if (listener === null) return
    if (!this.#isWithinBody) throw closedEarly()
    if (this.#bodyEnd === 'connection') this.#end(listener, 0)
    else this.cut(this.#howFar())
  }

  /** Ends a response whose head is read. */
  cut(note: string): void {
    const listener = this.#listener
    this.stop()
    listener?.onResponseCut(note)
  }

  #beginHead(): void {
    this.#part = 'head'
    this.#held = null
    this.#heldBytes = 0
    this.#lineStart = 0
  }

  #readHead(bytes: Buffer, at: number, listener: ResponseListener): number {
    const before = this.#heldBytes
    const head = this.#held === null ? bytes.subarray(at) : this.#hold(bytes.subarray(at))
    this.#checkStart(head, before, listener)
    const end = this.#endOfHead(head, before)
    if (end > RESPONSE_HEADER_BYTES_MAX || (end === 0 && head.length > RESPONSE_HEADER_BYTES_MAX)) {
      throw new ConnectionFailedError(
        `The response headers are larger than ${RESPONSE_HEADER_BYTES_MAX / 1024} KiB.`,
      )
    }
    if (end === 0) {
      if (this.#held === null) this.#hold(head)
      return bytes.length
    }
    const text = head.toString('latin1', 0, end)
    this.#beginHead()
    if (head[STATUS_AT] === ONE) this.#passOverInterim(text)
    else this.#beginBody(parseResponseHead(text), at + end - before === bytes.length, listener)
    return at + end - before
  }

  /** Copies what has arrived behind what was held, in memory that doubles. */
  #hold(bytes: Buffer): Buffer {
    const needed = this.#heldBytes + bytes.length
    let held = this.#held
    if (held === null || held.length < needed) {
      const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#heldBytes * 2))
      held?.copy(larger, 0, 0, this.#heldBytes)
      held = larger
    }
    bytes.copy(held, this.#heldBytes)
    this.#held = held
    this.#heldBytes = needed
    return held.subarray(0, needed)
  }

  /** Another protocol must not be waited for until its first line ends. */
  #checkStart(head: Buffer, before: number, listener: ResponseListener): void {
    if (before < STATUS_START.length) {
      const known = Math.min(head.length, STATUS_START.length)
      if (head.toString('latin1', 0, known) !== STATUS_START.slice(0, known)) throw invalidResponse()
    }
    if (this.#hasBegun || head.length <= STATUS_AT || head[STATUS_AT] === ONE) return
    this.#hasBegun = true
    listener.onResponseBegin()
  }

  /** @returns the length of the head with its empty line; 0 if it goes on */
  #endOfHead(head: Buffer, from: number): number {
    for (let lf = head.indexOf(LF, from); lf !== -1; lf = head.indexOf(LF, lf + 1)) {
      const bytes = lf - this.#lineStart
      if (bytes === 0 || (bytes === 1 && head[lf - 1] === CR)) return lf + 1
      this.#lineStart = lf + 1
    }
    return 0
  }

  #passOverInterim(text: string): void {
    const status = text.slice(STATUS_AT, STATUS_AT + 3)
    if (!/^1\d\d$/.test(status)) throw invalidResponse()
    if (status === '101') {
      throw new ConnectionFailedError('The target switched protocols (101) without being asked.')
    }
    this.#interims += 1
    if (this.#interims > INTERIM_RESPONSES_MAX)
      throw new ConnectionFailedError('The target sent too many 1xx responses.')
  }

  #beginBody(head: ResponseHead, isLast: boolean, listener: ResponseListener): void {
    const { bodyEnd } = head
    this.#bodyEnd = bodyEnd
    this.#keepAliveMs = head.keepAliveMs
    this.#isWithinBody = true
    if (bodyEnd === 'last_chunk') {
      this.#part = 'chunks'
      this.#chunked.begin()
    } else {
      this.#part = 'body'
      this.#bodyLeft = bodyEnd === 'connection' ? Number.POSITIVE_INFINITY : bodyEnd
    }
    listener.onResponseHead(head)
    if (bodyEnd === 0 && this.#listener === listener) this.#end(listener, isLast ? this.#keepAliveMs : 0)
  }

  #readBody(bytes: Buffer, at: number, listener: ResponseListener): number {
    const end = Math.min(bytes.length, at + this.#bodyLeft)
    this.#bodyLeft -= end - at
    listener.onResponseBody(bytes.subarray(at, end))
    if (this.#bodyLeft === 0 && this.#listener === listener) this.#endAt(end, bytes, listener)
    return end
  }

  /** Behind a mistake nobody knows where the next chunk begins. */
  #readChunksOrCut(bytes: Buffer, at: number, listener: ResponseListener): number {
    try {
      return this.#readChunks(bytes, at, listener)
    } catch (error) {
      if (!(error instanceof ConnectionFailedError)) throw error
      this.cut(error.message)
      return bytes.length
    }
  }

  #readChunks(bytes: Buffer, at: number, listener: ResponseListener): number {
    const data = this.#chunked.take(bytes, at)
    const end = this.#chunked.at
    if (data !== null) listener.onResponseBody(data)
    if (this.#chunked.isDone && this.#listener === listener) this.#endAt(end, bytes, listener)
    return end
  }

  /** Bytes behind a response that nobody asked for are a reason to trust the connection no more. */
  #endAt(end: number, bytes: Buffer, listener: ResponseListener): void {
    this.#end(listener, end === bytes.length ? this.#keepAliveMs : 0)
  }

  #end(listener: ResponseListener, keepAliveMs: number): void {
    const note = this.#part === 'chunks' ? this.#chunked.note : null
    this.stop()
    listener.onResponseEnd(note === null ? keepAliveMs : 0, note)
  }

  #howFar(): string {
    const bytes = this.#bodyEnd
    return typeof bytes === 'number'
      ? `The body ended after ${bytes - this.#bodyLeft} of ${bytes} bytes.`
      : 'The body ended before its last chunk.'
  }
}
