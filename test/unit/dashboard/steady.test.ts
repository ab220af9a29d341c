import { expect, test } from 'vitest'
import { countNew, steadyRows } from '../../../dashboard/src/ui/tables/steady.ts'

const row = (id: number, state = 'old') => ({ id, state })
const keyOf = ({ id }: { readonly id: number }) => id

test('rows keep their places, and say what is new of them', () => {
  const shown = [row(3), row(2), row(1)]
  const latest = [row(4, 'new'), row(1, 'new'), row(3, 'new')]
  expect(steadyRows(shown, latest, keyOf)).toEqual([row(3, 'new'), row(2), row(1, 'new')])
  expect(countNew(shown, latest, keyOf)).toBe(1)
  expect(countNew(shown, shown, keyOf)).toBe(0)
})
