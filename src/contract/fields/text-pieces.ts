import { isUtf8 } from 'node:buffer'
import { describeLocation, TEXT_START, locationAfter, type TextLocation } from './text-location.ts'

/**
 * A body as text, a piece of it at a time: to decode 16 MiB at once would hold up everybody else. The reader says
 * when it needs the next one.
 */
export class TextPieces {
  readonly #body: Buffer
  readonly #bytes: number
  /** Offsets in the body at which the text begins and ends. */
  #start = 0
  #end = 0
  #text = ''
  #isUtf8 = true

  /** @param bytes of a piece; a character that would be cut goes to the next one */
  constructor(body: Buffer, bytes: number) {
    this.#body = body
    this.#bytes = bytes
    this.moveTo(0)
  }

  get text(): string {
    return this.#text
  }

  /** Whether the body ends with this text. Behind invalid UTF-8 nothing is read. */
  get isLast(): boolean {
    return this.#end === this.#body.length || !this.#isUtf8
  }

  /** Lets the text begin where it has the character `at`. */
  moveTo(at: number): void {
    this.#start +=
      at === this.#text.length ? this.#end - this.#start : Buffer.byteLength(this.#text.slice(0, at))
    this.#end = this.#cut(this.#start, this.#bytes)
    const piece = this.#body.subarray(this.#start, this.#end)
    this.#isUtf8 = isUtf8(piece)
    this.#text = piece.toString('utf8')
  }

  /** Says where the first invalid byte is; null when no piece so far had one. */
  *malformedUtf8(): Generator<undefined, string | null> {
    return this.#isUtf8 ? null : yield* this.describe(this.#text.indexOf('\ufffd'))
  }

  /** Describes for people where in the body a character of the text is. Yields after each piece. */
  *describe(at: number): Generator<undefined, string> {
    let location: TextLocation = TEXT_START
    for (let from = 0; from < this.#start;) {
      const to = this.#cut(from, Math.min(this.#bytes, this.#start - from))
      const piece = this.#body.toString('utf8', from, to)
      location = locationAfter(piece, piece.length, location)
      from = to
      yield
    }
    return describeLocation(locationAfter(this.#text, at, location))
  }

  /** The end of a piece, not within a character; in what is no UTF-8, it may be anywhere. */
  #cut(start: number, bytes: number): number {
    const most = Math.min(start + bytes, this.#body.length)
    for (let end = most; end > most - CHARACTER_BYTES_MAX; end -= 1) {
      if (end === this.#body.length || (Number(this.#body[end]) & 0xc0) !== 0x80) return end
    }
    return most
  }
}

const CHARACTER_BYTES_MAX = 4
