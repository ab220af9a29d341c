import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { TextPieces } from '../../../../src/contract/fields/text-pieces.ts'

function ended<T>(work: Generator<undefined, T>): T {
  for (;;) {
    const step = work.next()
    if (step.done === true) return step.value
  }
}

test('the pieces of a body show the whole text, and each knows where it is', () => {
  const text = fc.string({ unit: fc.constantFrom('a', '\n', 'ä', '€', '\u{1f600}'), maxLength: 60 })
  fc.assert(
    fc.property(text, fc.integer({ min: 4, max: 20 }), fc.nat(), (whole, bytes, kept) => {
      const pieces = new TextPieces(Buffer.from(whole), bytes)
      let before = ''
      for (;;) {
        const { text: piece } = pieces
        expect(whole.startsWith(piece, before.length)).toBe(true)
        expect(Buffer.byteLength(piece)).toBeLessThanOrEqual(bytes)
        const lines = (before + piece).split('\n')
        expect(ended(pieces.describe(piece.length))).toBe(
          `position ${before.length + piece.length} (line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1})`,
        )
        if (pieces.isLast) break
        // Some of the piece stays, as an item that is cut off does; never half a character.
        const at = piece.slice(0, 1 + (kept % piece.length)).isWellFormed()
          ? 1 + (kept % piece.length)
          : piece.length
        before += piece.slice(0, at)
        pieces.moveTo(at)
      }
      expect(before + pieces.text).toBe(whole)
      expect(ended(pieces.malformedUtf8())).toBeNull()
    }),
  )
})

test.each([
  ['a byte that begins nothing', [0x61, 0x0a, 0x62, 0xff, 0x63], 'position 3 (line 2, column 2)'],
  ['a character that is cut off', [0x61, 0xe2, 0x82], 'position 1 (line 1, column 2)'],
  ['many bytes that go on with nothing', Array<number>(40).fill(0x80), 'position 0 (line 1, column 1)'],
])('%s is found, and nothing behind it is read', (_, bytes, where) => {
  const pieces = new TextPieces(Buffer.from(bytes), 16)
  expect(pieces.isLast).toBe(true)
  expect(ended(pieces.malformedUtf8())).toBe(where)
})
