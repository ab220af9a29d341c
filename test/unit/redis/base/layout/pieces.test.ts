import { expect, test } from 'vitest'
import { mapInPieces } from '../../../../../src/redis/base/layout/pieces.ts'

test('many records are mapped in order, with turns of others in between', async () => {
  let turns = 0
  let isOver = false
  const count = (): void => {
    turns += 1
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  const records = Array.from({ length: 1_000 }, (_, i) => `r${i}`)
  const mapped = await mapInPieces(
    records,
    (record) => record.length,
    (record, i) => `${record}-${i}`,
  )
  isOver = true
  expect(mapped).toEqual(records.map((record, i) => `${record}-${i}`))
  expect(turns).toBeGreaterThanOrEqual(14)
})

test('a record that is large is a piece of its own', async () => {
  const seen: string[] = []
  const done = mapInPieces([100_000, 100_000, 1], Number, (size) => seen.push(String(size)))
  expect(seen).toEqual(['100000'])
  await done
  expect(seen).toEqual(['100000', '100000', '1'])
})
