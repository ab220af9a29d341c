import { StringDecoder } from 'node:string_decoder'

/** Bytes searched at once: a search per chunk would read the same window again for each of many tiny chunks. */
const PIECE_BYTES = 4096

/**
 * Searches the first `bytesMax` bytes of a body for texts while it arrives, decoded as UTF-8. Holds one piece of the
 * body, and as much before it as a text that began there could need.
 */
export class TextSearch {
  readonly #decoder = new StringDecoder('utf8')
  readonly #piece = Buffer.allocUnsafeSlow(PIECE_BYTES)
  readonly #found = new Set<string>()
  #sought: readonly string[]
  #length = 0
  #bytesLeft: number
  /** The end of the searched part, where a text may have begun. */
  #before = ''

  constructor(texts: readonly string[], bytesMax: number) {
    this.#sought = texts
    this.#bytesLeft = bytesMax
  }

  add(chunk: Uint8Array): void {
    const end = Math.min(chunk.length, this.#bytesLeft)
    this.#bytesLeft -= end
    for (let at = 0; at < end && this.#sought.length > 0;) {
      const part = chunk.subarray(at, Math.min(end, at + PIECE_BYTES - this.#length))
      this.#piece.set(part, this.#length)
      this.#length += part.length
      at += part.length
      if (this.#length < PIECE_BYTES) continue
      this.#look(this.#decoder.write(this.#piece))
      this.#length = 0
    }
  }

  /** The texts that occur in the body. Ends the search. */
  found(): ReadonlySet<string> {
    if (this.#sought.length > 0) {
      this.#look(this.#decoder.write(this.#piece.subarray(0, this.#length)) + this.#decoder.end())
    }
    return this.#found
  }

  #look(decoded: string): void {
    const text = this.#before + decoded
    for (const one of this.#sought) if (text.includes(one)) this.#found.add(one)
    this.#sought = this.#sought.filter((one) => !this.#found.has(one))
    const reachBack = this.#sought.reduce((longest, { length }) => Math.max(longest, length - 1), 0)
    this.#before = reachBack === 0 ? '' : text.slice(-reachBack)
  }
}
