import type { SlicedWork } from '../../domain/shares/cost-gate.ts'

const LINE_FEED = 0x0a
/** A sliced count may yield after this many characters. */
const PIECE_CHARACTERS = 8 * 1024

/** Where a character stands. Lines and columns count from 1, the position from 0. */
export interface TextLocation {
  readonly position: number
  readonly line: number
  readonly column: number
}

export const TEXT_START: TextLocation = { position: 0, line: 1, column: 1 }

/** Where the reader is after the first characters of a text that begins at `from`. */
export function locationAfter(text: string, characters: number, from = TEXT_START): TextLocation {
  let { line } = from
  let lineStart = 1 - from.column
  for (let at = 0; at < characters; at += 1) {
    if (text.charCodeAt(at) !== LINE_FEED) continue
    line += 1
    lineStart = at + 1
  }
  return { position: from.position + characters, line, column: characters - lineStart + 1 }
}

/** Counts like `locationAfter`, with a stop after each piece. */
export function* locationAfterSliced(text: string, characters: number): SlicedWork<TextLocation> {
  let location = TEXT_START
  for (let from = 0; from < characters; from += PIECE_CHARACTERS) {
    const piece = text.slice(from, Math.min(characters, from + PIECE_CHARACTERS))
    location = locationAfter(piece, piece.length, location)
    yield
  }
  return location
}

export function describeLocation({ position, line, column }: TextLocation): string {
  return `position ${position} (line ${line}, column ${column})`
}
