import { RESPONSE_BODY_READ_BYTES_MAX, RESPONSE_HEADER_BYTES_MAX } from '../../domain/limits.ts'
import { CHUNK_LINE_BYTES_MAX } from '../bounds.ts'
import { ConnectionFailedError } from '../call-failure.ts'

const LF = 0x0a
/** As many digits as a safe integer has, behind zeros. */
const SIZE = /^0*([0-9A-Fa-f]{1,13})[\t ]*(?:;.*)?$/s
/** Lines are shorter than the data between them, unless a target means harm. */
const LINE_BYTES_MAX = 2 * RESPONSE_BODY_READ_BYTES_MAX

/**
 * Takes the data out of a chunked body (RFC 9112 §7.1):
 *
 *     size → data → gap → size … size (0) → trailer → done
 */
export class ChunkedBody {
  #part: 'size' | 'data' | 'gap' | 'trailer' | 'done' = 'size'
  #at = 0
  #dataLeft = 0
  /** The part of a line that has arrived. */
  #line = ''
  #lineBytes = 0
  #trailerBytes = 0
  #hasLfAlone = false

  /** What is wrong with the lines around the data so far; null = nothing. */
  get note(): string | null {
    return this.#hasLfAlone ? 'Lines around the chunks end in LF alone.' : null
  }

  get isDone(): boolean {
    return this.#part === 'done'
  }

  /** Offset in its bytes at which the last `take` stopped. */
  get at(): number {
    return this.#at
  }

  begin(): void {
    this.#part = 'size'
    this.#line = ''
    this.#lineBytes = 0
    this.#trailerBytes = 0
    this.#hasLfAlone = false
  }

  /**
   * Reads one piece of data or one line.
   * @returns the data, a view of `bytes`; null if there was none
   * @throws ConnectionFailedError if it cannot be told where the data goes on; the body ends there
   */
  take(bytes: Buffer, from: number): Buffer | null {
    if (this.#part === 'data') return this.#takeData(bytes, from)
    const line = this.#takeLine(bytes, from)
    if (line === null) return null
    if (this.#part === 'size') this.#endSize(line)
    else if (this.#part === 'gap') this.#endGap(line)
    else this.#endTrailerLine(line)
    return null
  }

  #takeData(bytes: Buffer, from: number): Buffer {
    const end = Math.min(bytes.length, from + this.#dataLeft)
    this.#at = end
    this.#dataLeft -= end - from
    if (this.#dataLeft === 0) this.#part = 'gap'
    return bytes.subarray(from, end)
  }

  /** A whole line without its end, or null. */
  #takeLine(bytes: Buffer, from: number): string | null {
    const lf = bytes.indexOf(LF, from)
    const end = lf === -1 ? bytes.length : lf + 1
    this.#at = end
    this.#lineBytes += end - from
    const line = this.#line + bytes.toString('latin1', from, end)
    if (line.length > CHUNK_LINE_BYTES_MAX) throw broken('a line around the chunks is too long')
    if (this.#lineBytes > LINE_BYTES_MAX) throw broken('the chunks have too many bytes around them')
    this.#line = lf === -1 ? line : ''
    if (lf === -1) return null
    if (line.endsWith('\r\n')) return line.slice(0, -2)
    this.#hasLfAlone = true
    return line.slice(0, -1)
  }

  #endSize(line: string): void {
    const size = SIZE.exec(line)?.[1]
    if (size === undefined) throw broken('the size of a chunk is not a hexadecimal number')
    this.#dataLeft = Number.parseInt(size, 16)
    this.#part = this.#dataLeft === 0 ? 'trailer' : 'data'
  }

  #endGap(line: string): void {
    if (line !== '') throw broken('a chunk is longer than its size')
    this.#part = 'size'
  }

  /** Trailers are read over. */
  #endTrailerLine(line: string): void {
    if (line === '') {
      this.#part = 'done'
      return
    }
    this.#trailerBytes += line.length
    if (this.#trailerBytes > RESPONSE_HEADER_BYTES_MAX) throw broken('the trailer is too long')
  }
}

function broken(why: string): ConnectionFailedError {
  return new ConnectionFailedError(`The body was given up: ${why}.`)
}
