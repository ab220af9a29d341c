import { BUCKET_MAX, countIn, type Histogram } from '../../domain/statistics/histogram.ts'
import { emptyTally, endedJobs, type Tally } from '../../domain/statistics/tally.ts'

/**
 * Tallies in Redis. A minute that is still counted is open and exact:
 *
 *     done,failed,retried,dead,depth,oldest|bucket:count,…|bucket:count,…
 *
 * A minute that is over is settled into a cell of at most CELL_CHARACTERS_MAX printable characters; the cells of a period
 * stand one behind the other. A cell is: the minute in its period; a character whose bits say which of the six numbers
 * are not 0; these; and when jobs ended, both histograms, each as its first bucket, its length, a shift and its counts
 * shifted right by that. The shift is as large as the size of the cell wants it.
 *
 * A number is written in digits of base 47, the lowest first, as characters from `!` on; all digits but the last are
 * raised by 47.
 */

/** Minutes that one key holds of each queue and team. */
export const PERIOD_MINUTES = 240
/** With its share of what Redis needs for a field, below 60 bytes. */
export const CELL_CHARACTERS_MAX = 56

const BASE = 47
const FIRST_CODE = 33
const NUMBERS = ['done', 'failed', 'retried', 'dead', 'depth', 'oldestReadySeconds'] as const

export function encodeOpen(tally: Tally): string {
  const numbers = NUMBERS.map((name) => tally[name]).join(',')
  return [numbers, openHistogram(tally.latency), openHistogram(tally.lateness)].join('|')
}

function openHistogram(histogram: Histogram): string {
  return histogram.flatMap((count, bucket) => (count > 0 ? [`${bucket}:${count}`] : [])).join(',')
}

/** null when it is damaged. */
export function decodeOpen(text: string): Tally | null {
  const [, numbers = '', latency = '', lateness = ''] =
    /^(\d+(?:,\d+){5})\|((?:\d+:\d+,?)*)\|((?:\d+:\d+,?)*)$/.exec(text) ?? []
  if (numbers === '') return null
  const tally = emptyTally()
  numbers.split(',').forEach((number, i) => {
    tally[NUMBERS[i] as (typeof NUMBERS)[number]] = Number(number)
  })
  readOpen(tally.latency, latency)
  readOpen(tally.lateness, lateness)
  return tally
}

function readOpen(into: Histogram, text: string): void {
  for (const [, bucket, count] of text.matchAll(/(\d+):(\d+)/g)) {
    countIn(into, Math.min(BUCKET_MAX, Number(bucket)), Number(count))
  }
}

export function encodeCell(minute: number, tally: Tally): string {
  const mask = NUMBERS.reduce((bits, name, i) => bits + (tally[name] > 0 ? 2 ** i : 0), 0)
  const numbers = NUMBERS.map((name) => (tally[name] > 0 ? digits(Math.round(tally[name])) : '')).join('')
  const head = digits(minute % PERIOD_MINUTES) + String.fromCharCode(FIRST_CODE + mask) + numbers
  if (endedJobs(tally) === 0) return head
  for (let shift = 0; ; shift += 1) {
    const cell = head + shifted(tally.latency, shift) + shifted(tally.lateness, shift)
    if (cell.length <= CELL_CHARACTERS_MAX || shift === BASE - 1) return cell
  }
}

function shifted(histogram: Histogram, shift: number): string {
  const counts = histogram.map((count) => Math.round(count / 2 ** shift))
  const first = Math.max(
    0,
    counts.findIndex((count) => count > 0),
  )
  const kept = counts.slice(first, counts.findLastIndex((count) => count > 0) + 1)
  return [first, kept.length, shift, ...kept].map(digits).join('')
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

/**
 * The cells of a period, as far as they can be read.
 *
 * @param period which one: minutes since 1970 divided by its length
 */
export function decodeCells(period: number, text: string): { cells: SettledCell[]; isDamaged: boolean } {
  const cells: SettledCell[] = []
  const reader = new CellReader(text)
  while (!reader.isAtEnd) {
    const minute = reader.number()
    const tally = readTally(reader)
    if (reader.isDamaged || minute >= PERIOD_MINUTES) return { cells, isDamaged: true }
    cells.push({ minute: period * PERIOD_MINUTES + minute, tally })
  }
  return { cells, isDamaged: false }
}

function readTally(reader: CellReader): Tally {
  const tally = emptyTally()
  const mask = reader.code()
  NUMBERS.forEach((name, i) => {
    if (Math.floor(mask / 2 ** i) % 2 === 1) tally[name] = reader.number()
  })
  if (endedJobs(tally) === 0) return tally
  for (const histogram of [tally.latency, tally.lateness]) {
    const [first, length, shift] = [reader.number(), reader.number(), reader.number()]
    for (let i = 0; i < length && !reader.isDamaged; i += 1) {
      countIn(histogram, Math.min(BUCKET_MAX, first + i), reader.number() * 2 ** shift)
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
    if (code >= 0 && code < 2 * BASE) return code
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
