import { expect, test } from 'vitest'
import { changedIn, rebased } from '../../../../dashboard/src/editing/drafts.ts'

const BEFORE = { name: 'a', zone: 'UTC', delays: [1, 2] }

test('fields are compared by what is in them', () => {
  expect(changedIn(BEFORE, { ...BEFORE, delays: [1, 2] })).toEqual([])
  expect(changedIn(BEFORE, { ...BEFORE, zone: 'Asia/Tokyo', delays: [1] })).toEqual(['zone', 'delays'])
})

test('after a change by others, what was typed stays and the rest is as it is now', () => {
  const now = { name: 'theirs', zone: 'Asia/Tokyo', delays: [9] }
  expect(rebased(BEFORE, { ...BEFORE, name: 'mine' }, now)).toEqual({ ...now, name: 'mine' })
  expect(rebased(BEFORE, BEFORE, now)).toEqual(now)
})
