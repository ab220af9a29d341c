import type { SlicedWork } from '../../domain/shares/cost-gate.ts'

const LINE_FEED = 0x0a
/** Characters between two stops. */
const PIECE_CHARACTERS = 8 * 1024

/** Where a character is; lines and columns count from 1. */
export interface TextPlace {
  readonly position: number
  readonly line: number
  readonly column: number
}

export const FIRST_PLACE: TextPlace = { position: 0, line: 1, column: 1 }

/** The place behind the first characters of a text that begins at `from`. */
export function placeAfter(text: string, characters: number, from = FIRST_PLACE): TextPlace {
  let { line } = from
  let lineStart = 1 - from.column
  for (let at = 0; at < characters; at += 1) {
    if (text.charCodeAt(at) !== LINE_FEED) continue
    line += 1
    lineStart = at + 1
  }
  return { position: from.position + characters, line, column: characters - lineStart + 1 }
}

/** As `placeAfter`, with a stop after each piece. */
export function* placeAfterSliced(text: string, characters: number): SlicedWork<TextPlace> {
  let place = FIRST_PLACE
  for (let from = 0; from < characters; from += PIECE_CHARACTERS) {
    const piece = text.slice(from, Math.min(characters, from + PIECE_CHARACTERS))
    place = placeAfter(piece, piece.length, place)
    yield
  }
  return place
}

/** A place for people. */
export function describePlace({ position, line, column }: TextPlace): string {
  return `position ${position} (line ${line}, column ${column})`
}
