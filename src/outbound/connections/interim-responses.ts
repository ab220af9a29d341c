import type { Socket } from 'node:net'
import { RESPONSE_HEADER_BYTES_MAX } from '../../domain/limits.ts'
import { INTERIM_RESPONSES_MAX } from '../bounds.ts'
import { ConnectionFailedError } from '../call-failure.ts'

/**
 * Removes the 1xx responses before the final one (RFC 9110 §15.2) from what undici reads, because undici closes the
 * connection at a 100 that it did not ask for, and a job that was delivered would be sent again. It filters between the
 * start of a request and the start of its final response, and only there.
 * @returns to be called when a request is about to be written
 */
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

/** The beginning of a 1xx status line, character by character. */
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

/** @param text as much of a status line as has arrived */
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
 *        └── (not a 1xx) ───────────┘
 *
 * Passing: undici gets every byte. Head: a response begins and may be a 1xx. Interim: inside a 1xx.
 */
export class InterimFilter {
  #state: 'passing' | 'head' | 'interim' = 'passing'
  #interims = 0
  /** The first bytes of a head, too few to tell which it is. */
  #held: Buffer = NOTHING
  #headBytes = 0
  /** How much of the CR, LF, CR, LF at the end of a head has arrived. */
  #endBytes = 0

  get isPassing(): boolean {
    return this.#state === 'passing'
  }

  begin(): void {
    this.#state = 'head'
    this.#interims = 0
    this.#held = NOTHING
  }

  /** The part of a chunk that belongs to the final response; null for none. @throws ConnectionFailedError */
  pass(chunk: Buffer): Buffer | null {
    let rest = chunk
    while (rest.length > 0) {
      if (this.#state === 'head') rest = this.#judge(rest)
      if (this.#state === 'passing') return rest
      if (this.#state === 'interim') rest = this.#skip(rest)
    }
    return null
  }

  /** Decides what begins here; the rest is empty until that is known. */
  #judge(chunk: Buffer): Buffer {
    const bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk])
    const known = Math.min(bytes.length, INTERIM_STATUS_LINE.length)
    this.#held = NOTHING
    // For most responses the first digit of the status decides.
    const isFinal = bytes.length > STATUS_AT && bytes[STATUS_AT] !== ONE
    if (isFinal || !beginsInterim(bytes.toString('latin1', 0, known))) {
      this.#state = 'passing'
      return bytes
    }
    if (known < INTERIM_STATUS_LINE.length) {
      // Copy: the bytes are a view of everything that was read at once.
      this.#held = Buffer.from(bytes)
      return NOTHING
    }
    if (bytes.toString('latin1', STATUS_AT, STATUS_AT + 3) === '101') {
      throw new ConnectionFailedError('The target switched protocols (101), which was not asked for.')
    }
    this.#interims += 1
    if (this.#interims > INTERIM_RESPONSES_MAX)
      throw new ConnectionFailedError('The target sent too many 1xx responses.')
    this.#state = 'interim'
    this.#headBytes = 0
    this.#endBytes = 0
    return bytes
  }

  /** The bytes after the head; empty until it ends. */
  #skip(bytes: Buffer): Buffer {
    for (let at = 0; at < bytes.length; at += 1) {
      const byte = bytes[at]
      const isNext = byte === (this.#endBytes % 2 === 0 ? CR : LF)
      // llhttp refuses a line that ends in LF alone; here it would hide the end of the head.
      if (byte === LF && !isNext) throw new ConnectionFailedError('The response is not valid HTTP/1.1.')
      this.#endBytes = isNext ? this.#endBytes + 1 : byte === CR ? 1 : 0
      if (this.#endBytes < 4) continue
      this.#state = 'head'
      return bytes.subarray(at + 1)
    }
    this.#headBytes += bytes.length
    if (this.#headBytes > RESPONSE_HEADER_BYTES_MAX) {
      throw new ConnectionFailedError(
        `The response headers are larger than ${RESPONSE_HEADER_BYTES_MAX / 1024} KiB.`,
      )
    }
    return NOTHING
  }
}
