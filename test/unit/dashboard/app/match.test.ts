import { describe, expect, test } from 'vitest'
import { isTypable, matching, rankOf } from '../../../../dashboard/src/format/match.ts'

describe('how well a name fits what was typed', () => {
  test.each([
    ['emails', 'Emails', 0],
    ['em', 'emails', 1],
    ['pause em', 'Pause queue emails', 2],
    ['digest', 'weekly-digest', 2],
    ['ails', 'emails', 3],
    ['  ', 'emails', 1],
    ['emails x', 'emails', null],
    ['größe', 'Größe-prüfen', 1],
  ])('%j in %j', (sought, name, rank) => {
    expect(rankOf(sought, name)).toBe(rank)
  })

  test('the best come first, and equals stay in their order', () => {
    const names = ['my-jobs', 'no', 'the jobs b', 'the jobs a', 'Jobs', 'jobs-done', 'ajobs']
    expect(matching('jobs', names, (name) => name)).toEqual([
      'Jobs',
      'jobs-done',
      'my-jobs',
      'the jobs b',
      'the jobs a',
      'ajobs',
    ])
  })
})

test.each([
  ['emails', true],
  ['Weekly e-mails', true],
  ['two  spaces', false],
  ['a space at the end ', false],
  ['größe', false],
  ['', false],
  ['long'.repeat(16), false],
])('whether %j can be typed: %j', (name, can) => {
  expect(isTypable(name)).toBe(can)
})
