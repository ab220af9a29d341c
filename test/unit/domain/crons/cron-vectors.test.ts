import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { cronScheduleOf } from '../../../../src/domain/crons/cron.ts'

const VECTORS = linesOf('cron-vectors.txt')
const DOCS = readFileSync(new URL('../../../../docs/reference/crons.md', import.meta.url), 'utf8')

function linesOf(name: string): string[][] {
  const text = readFileSync(new URL(`../../../samples/${name}`, import.meta.url), 'utf8')
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return lines.map((line) => line.split(' | '))
}

/** The next ticks, as many as are asked for, or: refused. */
function ticksOf(expression: string, timeZone: string, after: string, count: number): string[] {
  const schedule = cronScheduleOf({ cronExpression: expression, timeZone })
  if ('problem' in schedule) return ['refused']
  const ticks = schedule.between(Date.parse(after), Infinity, count)
  return ticks.map((tick) => new Date(tick).toISOString().replace(':00.000Z', 'Z'))
}

describe('public vectors', () => {
  test.each(VECTORS)('%j in %s after %s: %s', (expression = '', zone = '', after = '', expected = '') => {
    const ticks = expected.split(' ')
    expect(ticksOf(expression, zone, after, ticks.length)).toEqual(ticks)
  })
})

const DISAGREEMENTS = linesOf('cron-disagreements.txt').map(
  ([program, expression = '', zone = '', after = '', theirs, ours, rule]) => {
    return { program, expression, zone, after, theirs, ours, rule }
  },
)

describe('where others differ', () => {
  test.each(DISAGREEMENTS)(
    '$program has $expression in $zone after $after: $theirs, we have $ours by the rule "$rule"',
    ({ expression, zone, after, theirs, ours }) => {
      expect(ticksOf(expression, zone, after, 1)).toEqual([ours])
      expect(theirs).not.toBe(ours)
    },
  )

  test('the reference names each rule that decides, and no other', () => {
    const [, section = ''] = DOCS.split('## Where others differ\n')
    const named = [...section.matchAll(/^\| \*\*(.+?)\*\*/gm)].map(([, rule]) => rule)
    expect(new Set(named)).toEqual(new Set(DISAGREEMENTS.map(({ rule }) => rule)))
  })
})
