import { BackupError } from '../../../domain/errors.ts'
import type { ByteCursor } from './byte-cursor.ts'

/** What a type byte of Redis announces. */
export const TYPE = {
  string: 0,
  set: 2,
  hash: 4,
  sortedSet: 5,
  module: 7,
  intset: 11,
  hashListpack: 16,
  sortedSetListpack: 17,
  list: 18,
  stream2: 19,
  setListpack: 20,
  stream3: 21,
} as const

/** What the elements of values are made of that have a count and may be large. */
const ELEMENTS: Readonly<Record<number, (cursor: ByteCursor) => void>> = {
  [TYPE.set]: (cursor) => cursor.skipString(),
  [TYPE.hash]: (cursor) => {
    cursor.skipString()
    cursor.skipString()
  },
  [TYPE.sortedSet]: (cursor) => {
    cursor.skipString()
    cursor.skip(8)
  },
}

/** How an element of such a value is passed over; null = the value is one piece. */
export function elementOf(type: number): ((cursor: ByteCursor) => void) | null {
  return ELEMENTS[type] ?? null
}

/** Passes over a value that is one piece. @throws BackupError when the type is not known */
export function skipValue(cursor: ByteCursor, type: number): void {
  switch (type) {
    case TYPE.string:
    case TYPE.intset:
    case TYPE.hashListpack:
    case TYPE.sortedSetListpack:
    case TYPE.setListpack:
      return cursor.skipString()
    case TYPE.list:
      return times(cursor.length(), () => {
        cursor.skipNumber()
        cursor.skipString()
      })
    case TYPE.stream2:
    case TYPE.stream3:
      return skipStream(cursor, type)
    case TYPE.module:
      return skipModule(cursor)
    default:
      throw new BackupError(`It has a value of type ${type}, which this version of Punctual does not know.`)
  }
}

/** What a module has written: its id, then words of known forms up to a mark. */
export function skipModule(cursor: ByteCursor): void {
  cursor.skipNumber()
  for (;;) {
    const form = cursor.length()
    if (form === 0) return
    if (form === 1 || form === 2) cursor.skipNumber()
    else if (form === 3) cursor.skip(4)
    else if (form === 4) cursor.skip(8)
    else if (form === 5) cursor.skipString()
    else throw new BackupError('Data of a module is damaged.')
  }
}

const ID_BYTES = 16
const TIME_BYTES = 8

function skipStream(cursor: ByteCursor, type: number): void {
  const numbers = (count: number): void => times(count, () => cursor.skipNumber())
  times(cursor.length(), () => {
    cursor.skipString()
    cursor.skipString()
  })
  // Entries, the last id, the first one, the highest deleted one, and how many were ever added.
  numbers(8)
  times(cursor.length(), () => {
    cursor.skipString()
    numbers(3)
    times(cursor.length(), () => {
      cursor.skip(ID_BYTES + TIME_BYTES)
      cursor.skipNumber()
    })
    times(cursor.length(), () => {
      cursor.skipString()
      cursor.skip(type === TYPE.stream3 ? 2 * TIME_BYTES : TIME_BYTES)
      times(cursor.length(), () => cursor.skip(ID_BYTES))
    })
  })
}

/** Of an absurd count the bytes end first. */
function times(count: number, run: () => void): void {
  for (let i = 0; i < count; i += 1) run()
}
