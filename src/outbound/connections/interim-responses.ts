/**
 * Passes over the 1xx answers that may come before the final one (RFC 9110 §15.2). undici takes a 100 that was not
 * asked for as the end of the connection, so that a job that was delivered would be sent again. So they are taken out
 * of what it reads: between the beginning of a request and that of its final answer, and only there.
 */
import type { Socket } from 'node:net'
import { RESPONSE_HEADER_BYTES_MAX } from '../../domain/limits.ts'
import { INTERIM_RESPONSES_MAX } from '../bounds.ts'
import { AnswerError } from '../call-failure.ts'

/** @returns to be called when a request is about to be written */
export function passOverInterim(socket: Socket): () => void {
  const filter = new InterimFilter()
  const read = socket.read.bind(socket) as (size?: number) => Buffer | null
  socket.read = (size?: number) => {
    for (;;) {
      const chunk = read(size)
      if (chunk === null || filter.isPassing) return chunk
      try {
        const rest = filter.pass(chunk)
        if (rest !== null) return rest
      } catch (error) {
        socket.destroy(error as Error)
        return null
      }
    }
  }
  return () => filter.begin()
}

const CR = 0x0d
const LF = 0x0a
const ONE = 0x31
const DIGIT = /^[0-9]$/

/** What a status line of a 1xx answer begins with, character by character. */
const INTERIM_STATUS_LINE: ReadonlyArray<string | RegExp> = [
  ...'HTTP/',
  DIGIT,
  '.',
  DIGIT,
  ' ',
  '1',
  DIGIT,
  DIGIT,
  /^[ \r]$/,
]
const STATUS_AT = 'HTTP/1.1 '.length
const NOTHING = Buffer.alloc(0)

/** @param text as much of a status line as has come */
function beginsInterim(text: string): boolean {
  return INTERIM_STATUS_LINE.every((expected, at) => {
    const character = text[at]
    if (character === undefined) return true
    return typeof expected === 'string' ? expected === character : expected.test(character)
  })
}

/**
 *     passing → (a request begins) head ⇄ interim
 *        ↑                          ↓
 *        └── (not a 1xx answer) ────┘
 *
 * Passing: all is undici's. Head: an answer begins, and what has come of it may be a 1xx. Interim: within one.
 */
export class InterimFilter {
  #state: 'passing' | 'head' | 'interim' = 'passing'
  #answers = 0
  /** The first bytes of a head that do not tell yet which it is. */
  #held: Buffer = NOTHING
  #headBytes = 0
  /** How much of the empty line that ends a head has come: CR, LF, CR, LF. */
  #endBytes = 0

  get isPassing(): boolean {
    return this.#state === 'passing'
  }

  begin(): void {
    this.#state = 'head'
    this.#answers = 0
    this.#held = NOTHING
  }

  /** What of a chunk is the final answer's; null when nothing is. Throws AnswerError. */
  pass(chunk: Buffer): Buffer | null {
    let rest = chunk
    while (rest.length > 0) {
      if (this.#state === 'head') rest = this.#judge(rest)
      if (this.#state === 'passing') return rest
      if (this.#state === 'interim') rest = this.#skip(rest)
    }
    return null
  }

  /** Decides what begins here; nothing remains while that is open. */
  #judge(chunk: Buffer): Buffer {
    const bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk])
    const known = Math.min(bytes.length, INTERIM_STATUS_LINE.length)
    this.#held = NOTHING
    // One look at most answers: the first digit of the status.
    const isFinal = bytes.length > STATUS_AT && bytes[STATUS_AT] !== ONE
    if (isFinal || !beginsInterim(bytes.toString('latin1', 0, known))) {
      this.#state = 'passing'
      return bytes
    }
    if (known < INTERIM_STATUS_LINE.length) {
      // A copy: the bytes are a part of all that was read at once.
      this.#held = Buffer.from(bytes)
      return NOTHING
    }
    if (bytes.toString('latin1', STATUS_AT, STATUS_AT + 3) === '101') {
      throw new AnswerError('The target switched protocols (101), which was not asked for.')
    }
    this.#answers += 1
    if (this.#answers > INTERIM_RESPONSES_MAX) throw new AnswerError('The target sent too many 1xx answers.')
    this.#state = 'interim'
    this.#headBytes = 0
    this.#endBytes = 0
    return bytes
  }

  /** What comes after the head; nothing while it goes on. */
  #skip(bytes: Buffer): Buffer {
    for (let at = 0; at < bytes.length; at += 1) {
      const byte = bytes[at]
      const isNext = byte === (this.#endBytes % 2 === 0 ? CR : LF)
      // llhttp refuses a line that ends in LF alone; here it would hide where the head ends.
      if (byte === LF && !isNext) throw new AnswerError('The answer is not valid HTTP/1.1.')
      this.#endBytes = isNext ? this.#endBytes + 1 : byte === CR ? 1 : 0
      if (this.#endBytes < 4) continue
      this.#state = 'head'
      return bytes.subarray(at + 1)
    }
    this.#headBytes += bytes.length
    if (this.#headBytes > RESPONSE_HEADER_BYTES_MAX) {
      throw new AnswerError(`The response headers are larger than ${RESPONSE_HEADER_BYTES_MAX / 1024} KiB.`)
    }
    return NOTHING
  }
}
