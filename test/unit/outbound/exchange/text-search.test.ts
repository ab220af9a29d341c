import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { TextSearch } from '../../../../src/outbound/exchange/text-search.ts'

function foundIn(body: Uint8Array, texts: readonly string[], cuts: readonly number[], bytesMax: number) {
  const search = new TextSearch(texts, bytesMax)
  let at = 0
  for (const cut of [...cuts, body.length]) {
    const end = Math.min(body.length, at + cut)
    search.add(body.subarray(at, end))
    at = end
  }
  return search.found()
}

/** The promise: the first bytes as one text. */
function foundAtOnce(body: Uint8Array, texts: readonly string[], bytesMax: number) {
  const text = Buffer.from(body.subarray(0, bytesMax)).toString('utf8')
  return new Set(texts.filter((one) => text.includes(one)))
}

describe('texts are found in a stream as in the whole', () => {
  /** Whole characters of one to four bytes, halves of them, bytes that never stand in UTF-8, and a BOM. */
  const pieces = ['a', 'b', 'é', '€', '😀', '\u{FEFF}'].map((text) => Buffer.from(text))
  const broken = ['c3', 'e282', 'f09f98', '80', 'ff', 'eda080'].map((hex) => Buffer.from(hex, 'hex'))
  const body = fc.array(fc.constantFrom(...pieces, ...broken), { maxLength: 40 })
  const text = fc
    .array(fc.constantFrom('a', 'b', 'é', '€', '😀', '\u{FEFF}', '\u{FFFD}', '\u{D83D}'), {
      minLength: 1,
      maxLength: 4,
    })
    .map((characters) => characters.join(''))

  test('of whatever bytes, wherever it is cut and wherever the bound lies', () => {
    fc.assert(
      fc.property(
        body,
        fc.constantFrom(0, 4_060, 4_090),
        fc.array(text, { minLength: 1, maxLength: 4 }),
        fc.array(fc.integer({ min: 1, max: 5 }), { maxLength: 30 }),
        fc.nat(160),
        (parts, lead, texts, cuts, room) => {
          // The odd bytes lie across the border between what is searched at once.
          const bytes = Buffer.concat([Buffer.alloc(lead, 'x'), ...parts])
          const bytesMax = lead + room
          if (lead > 0) cuts.unshift(lead)
          expect(foundIn(bytes, texts, cuts, bytesMax)).toEqual(foundAtOnce(bytes, texts, bytesMax))
        },
      ),
      { numRuns: 2_000 },
    )
  })

  test('of any length, across every border between what is searched at once', () => {
    // Whole texts lie across these borders, and the text is longer than what is searched at once.
    for (const units of [1, 2, 100, 4_095, 4_096, 4_097, 8_192]) {
      const sought = `${'x'.repeat(units - 1)}!`
      for (const lead of [0, 1, 4_000, 4_095, 4_096, 4_097, 12_288 - units, 20_000]) {
        const bytes = Buffer.from(`${'x'.repeat(Math.max(0, lead))}${sought}${'y'.repeat(500)}`)
        for (const cut of [1_000, 4_096, 65_536]) {
          const cuts = Array.from({ length: Math.ceil(bytes.length / cut) }, () => cut)
          expect(foundIn(bytes, [sought, 'z'], cuts, 1_000_000), `${units} after ${lead}`).toEqual(
            new Set([sought]),
          )
        }
      }
    }
  })

  test('up to the bound and not beyond it', () => {
    const bytes = Buffer.from(`${'x'.repeat(9_997)}end`)
    expect(foundIn(bytes, ['end'], [], 10_000)).toEqual(new Set(['end']))
    expect(foundIn(bytes, ['end'], [], 9_999)).toEqual(new Set())
  })
})

test('a body in tiny chunks costs no search for each', () => {
  const search = new TextSearch(['never'.repeat(800)], 256 * 1024)
  const chunk = Buffer.from('a')
  const include = String.prototype.includes
  let searches = 0
  // oxlint-disable-next-line no-extend-native -- counted here and taken back below
  String.prototype.includes = function counted(this: string, ...given) {
    searches += 1
    return include.apply(this, given)
  }
  try {
    for (let sent = 0; sent < 256 * 1024; sent += 1) search.add(chunk)
    search.found()
  } finally {
    // oxlint-disable-next-line no-extend-native -- as it was
    String.prototype.includes = include
  }
  expect(searches).toBeLessThanOrEqual(65)
})
