import { StringDecoder } from 'node:string_decoder'

/**
 * Looks for texts in a body as it streams by, decoded as UTF-8. Holds no more of the body than one piece and, before
 * it, as much as the longest text could reach back.
 */
export interface TextSearch {
  add(chunk: Uint8Array): void
  /** Those of the texts that the body holds. Ends the search. */
  found(): ReadonlySet<string>
}

/** Bytes that are searched at once: a search for each of many tiny chunks would look at the same window again and again. */
const PIECE_BYTES = 4096

/** @param bytesMax how much of the body is searched */
export function createTextSearch(texts: readonly string[], bytesMax: number): TextSearch {
  const decoder = new StringDecoder('utf8')
  const piece = Buffer.allocUnsafeSlow(PIECE_BYTES)
  const found = new Set<string>()
  let sought = texts
  let length = 0
  let room = bytesMax
  /** The end of what was searched, where a text may have begun. */
  let before = ''

  function look(decoded: string): void {
    const text = before + decoded
    for (const one of sought) if (text.includes(one)) found.add(one)
    sought = sought.filter((one) => !found.has(one))
    const reachBack = sought.reduce((longest, { length: units }) => Math.max(longest, units - 1), 0)
    before = reachBack === 0 ? '' : text.slice(-reachBack)
  }

  return {
    add: (chunk) => {
      const end = Math.min(chunk.length, room)
      room -= end
      for (let at = 0; at < end && sought.length > 0;) {
        const part = chunk.subarray(at, Math.min(end, at + PIECE_BYTES - length))
        piece.set(part, length)
        length += part.length
        at += part.length
        if (length < PIECE_BYTES) continue
        look(decoder.write(piece))
        length = 0
      }
    },
    found: () => {
      if (sought.length > 0) look(decoder.write(piece.subarray(0, length)) + decoder.end())
      return found
    },
  }
}
