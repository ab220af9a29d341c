import { BUCKET_MAX, countIn, type Histogram } from '../../../../domain/statistics/histogram.ts'
import { emptyTally, endedJobs, type Tally } from '../../../../domain/statistics/tally.ts'
import { applyNotes, NOTE_KINDS, type Notes, notesOf } from './tally-notes.ts'

/**
 * Tallies in Redis. A minute that is still counted is open and exact:
 *
 *     done,failed,retried,dead,depth,oldest|bucket:count,…|bucket:count,…
 *
 * Notes, which tally-notes.ts describes, stand behind the counts of the latency, as buckets that count nothing: a version
 * before adds 0 to its last bucket. A minute that is over is settled into a cell of at most CELL_CHARACTERS_MAX printable characters. A cell is: the minute
 * since 1970 as five digits of base 36; a character whose bits say which of the six numbers are not 0; these; and when
 * jobs ended, both histograms, each as its first bucket, its length and a character for each count: exact up to
 * EXACT_MAX, above it within 10 %. When a cell gets too long, the outermost counts join their neighbours. Notes follow a
 * cell after a space and NOTES_SIGN, each as its kind and its value: to a version before, which takes apart cells by their
 * spaces, they are a damaged cell, and it passes over them.
 *
 * Any other number is written in digits of base 47, the lowest first, as characters from `!` on; all digits but the last are
 * raised by 47.
 */

/**
 * Bound of a cell. With what Redis adds, a cell takes less than 60 bytes when there is one in every four hours or more.
 */
export const CELL_CHARACTERS_MAX = 44
/** Enough until the year 2084; fold.lua reads as many. */
const MINUTE_CHARACTERS = 5

const BASE = 47
const FIRST_CODE = 33
const CODES = 2 * BASE
/** Counts up to this one are their own code; each further code stands for so many times the one before. */
const EXACT_MAX = 20
const CODE_RATIO = 1.2
/** No cell begins with it. */
const NOTES_SIGN = '+'
/** Buckets from here on are notes. */
const NOTES_FROM = 64
const NUMBERS = ['done', 'failed', 'retried', 'dead', 'depth', 'oldestReadySeconds'] as const

export function encodeOpen(tally: Tally): string {
  const numbers = NUMBERS.map((name) => tally[name]).join(',')
  const notes = notesOf(tally).map(([kind, value]) => `${NOTES_FROM + value * NOTE_KINDS + kind}:0`)
  const latency = [openHistogram(tally.latency), ...notes].filter((part) => part !== '').join(',')
  return [numbers, latency, openHistogram(tally.lateness)].join('|')
}

function openHistogram(histogram: Histogram): string {
  return histogram.flatMap((count, bucket) => (count > 0 ? [`${bucket}:${count}`] : [])).join(',')
}

/** null when it is damaged. */
export function decodeOpen(text: string): Tally | null {
  const [, numbers = '', latency = '', lateness = ''] =
    /^(\d+(?:,\d+){5})\|((?:\d+:\d+(?:,|(?=\|)))*)\|((?:\d+:\d+(?:,|$))*)$/.exec(text) ?? []
  if (numbers === '') return null
  const tally = emptyTally()
  numbers.split(',').forEach((number, i) => {
    tally[NUMBERS[i] as (typeof NUMBERS)[number]] = Number(number)
  })
  readOpen(tally.latency, latency)
  readOpen(tally.lateness, lateness)
  applyNotes(tally, openNotes(latency))
  return tally
}

function openNotes(text: string): Notes {
  return [...text.matchAll(/(\d+):0\b/g)].flatMap(([, bucket]) => {
    const note = Number(bucket) - NOTES_FROM
    return note < 0 ? [] : [[note % NOTE_KINDS, Math.floor(note / NOTE_KINDS)] as const]
  })
}

function readOpen(into: Histogram, text: string): void {
  for (const [, bucket, count] of text.matchAll(/(\d+):(\d+)/g)) {
    if (count !== '0') countIn(into, Math.min(BUCKET_MAX, Number(bucket)), Number(count))
  }
}

/** The cell of a minute, with its notes. */
export function encodeCell(minute: number, tally: Tally): string {
  const notes = notesOf(tally).map(([kind, value]) => String.fromCharCode(FIRST_CODE + kind) + digits(value))
  const cell = encodeCounts(minute, tally)
  return notes.length === 0 ? cell : `${cell} ${NOTES_SIGN}${notes.join('')}`
}

function encodeCounts(minute: number, tally: Tally): string {
  const mask = NUMBERS.reduce((bits, name, i) => bits + (tally[name] > 0 ? 2 ** i : 0), 0)
  const numbers = NUMBERS.map((name) => (tally[name] > 0 ? digits(Math.round(tally[name])) : '')).join('')
  const head = encodeMinute(minute) + String.fromCharCode(FIRST_CODE + mask) + numbers
  if (endedJobs(tally) === 0) return head
  const [latency, lateness] = [tally.latency.slice(), tally.lateness.slice()]
  for (;;) {
    const cell = head + encodeHistogram(latency) + encodeHistogram(lateness)
    if (cell.length <= CELL_CHARACTERS_MAX || !joinOutermost(latency, lateness)) return cell
  }
}

function encodeMinute(minute: number): string {
  return minute.toString(36).padStart(MINUTE_CHARACTERS, '0')
}

function encodeHistogram(counts: Histogram): string {
  const { first, last } = ends(counts)
  const kept = counts.slice(first, last + 1).map((count) => String.fromCharCode(FIRST_CODE + codeOf(count)))
  return digits(first) + digits(kept.length) + kept.join('')
}

/** Places of the first and the last count; 0 and -1 without any. */
function ends(counts: Histogram): { first: number; last: number } {
  const last = counts.findLastIndex((count) => count > 0)
  return { first: last === -1 ? 0 : counts.findIndex((count) => count > 0), last }
}

/** Adds the smallest count at an end of one of the histograms to the next bucket. False when there is none left. */
function joinOutermost(...histograms: readonly Histogram[]): boolean {
  const outer = histograms.flatMap((counts) => {
    const { first, last } = ends(counts)
    if (first >= last) return []
    return [
      { counts, from: first, to: first + 1 },
      { counts, from: last, to: last - 1 },
    ]
  })
  const [least] = outer.toSorted((a, b) => (a.counts[a.from] ?? 0) - (b.counts[b.from] ?? 0))
  if (least === undefined) return false
  const { counts, from, to } = least
  counts[to] = (counts[to] ?? 0) + (counts[from] ?? 0)
  counts[from] = 0
  return true
}

function codeOf(count: number): number {
  if (count <= EXACT_MAX) return Math.round(count)
  const steps = Math.round(Math.log(count / EXACT_MAX) / Math.log(CODE_RATIO))
  return Math.min(CODES - 1, EXACT_MAX + steps)
}

function countOf(code: number): number {
  return code <= EXACT_MAX ? code : Math.round(EXACT_MAX * CODE_RATIO ** (code - EXACT_MAX))
}

function digits(number: number): string {
  let text = ''
  let left = number
  for (; left >= BASE; left = Math.floor(left / BASE)) {
    text += String.fromCharCode(FIRST_CODE + BASE + (left % BASE))
  }
  return text + String.fromCharCode(FIRST_CODE + left)
}

/** A cell as it stands, with its minute. */
export interface SettledCell {
  readonly minute: number
  readonly tally: Tally
}

/** Reads cells with spaces between them. Those that are damaged are left out. */
export function decodeCells(text: string): SettledCell[] {
  const cells: SettledCell[] = []
  let last: SettledCell | null = null
  for (const part of text.split(' ')) {
    if (!part.startsWith(NOTES_SIGN)) {
      last = decodeCounts(part)
      if (last !== null) cells.push(last)
    } else if (last !== null) applyNotes(last.tally, cellNotes(part.slice(NOTES_SIGN.length)))
  }
  return cells
}

/** Those before the first that is damaged. */
function cellNotes(text: string): Notes {
  const reader = new CellReader(text)
  const notes: Array<readonly [number, number]> = []
  while (!reader.isAtEnd) {
    const note = [reader.code(), reader.number()] as const
    if (reader.isDamaged) break
    notes.push(note)
  }
  return notes
}

/** null when it is damaged. */
function decodeCounts(text: string): SettledCell | null {
  const minute = text.slice(0, MINUTE_CHARACTERS)
  const reader = new CellReader(text.slice(MINUTE_CHARACTERS))
  const tally = readTally(reader)
  if (!/^[0-9a-z]{5}$/.test(minute) || reader.isDamaged || !reader.isAtEnd) return null
  applyNotes(tally, [])
  return { minute: Number.parseInt(minute, 36), tally }
}

function readTally(reader: CellReader): Tally {
  const tally = emptyTally()
  const mask = reader.code()
  NUMBERS.forEach((name, i) => {
    if (Math.floor(mask / 2 ** i) % 2 === 1) tally[name] = reader.number()
  })
  if (endedJobs(tally) === 0) return tally
  for (const histogram of [tally.latency, tally.lateness]) {
    const [first, length] = [reader.number(), reader.number()]
    for (let i = 0; i < length && !reader.isDamaged; i += 1) {
      countIn(histogram, Math.min(BUCKET_MAX, first + i), countOf(reader.code()))
    }
  }
  return tally
}

class CellReader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#text.length
  }

  /** Something was read behind the end, or is no character of a cell. */
  isDamaged = false

  code(): number {
    const code = this.#text.charCodeAt(this.#at) - FIRST_CODE
    this.#at += 1
    if (code >= 0 && code < CODES) return code
    this.isDamaged = true
    return 0
  }

  number(): number {
    let number = 0
    for (let weight = 1; ; weight *= BASE) {
      const code = this.code()
      number += (code % BASE) * weight
      if (code < BASE) return number
    }
  }
}
