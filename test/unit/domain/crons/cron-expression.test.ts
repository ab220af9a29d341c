import { describe, expect, test } from 'vitest'
import { parseCronExpression } from '../../../../src/domain/crons/cron-expression.ts'

function parsed(text: string) {
  const expression = parseCronExpression(text)
  if ('problem' in expression) throw new Error(expression.problem)
  return expression
}
const problemOf = (text: string) => {
  const expression = parseCronExpression(text)
  return 'problem' in expression ? expression.problem : null
}
const DAYS = [0, 1, 2, 3, 4, 5, 6]

describe('fields', () => {
  test.each([
    ['*/15 * * * *', [0, 15, 30, 45]],
    ['5/20 * * * *', [5, 25, 45]],
    ['50-59/4 * * * *', [50, 54, 58]],
    ['1,2,1,30-32 * * * *', [1, 2, 30, 31, 32]],
    ['007 * * * *', [7]],
  ])('the minutes of %s', (text, minutes) => {
    expect(parsed(text).minutes).toEqual(minutes)
  })

  test.each([
    ['0', [0]],
    ['7', [0]],
    ['SUN', [0]],
    ['Mon-fri', [1, 2, 3, 4, 5]],
    ['FRI-SUN', [0, 5, 6]],
    ['5-7', [0, 5, 6]],
    ['SUN-MON', [0, 1]],
    ['*/2', [0, 2, 4, 6]],
    ['*', DAYS],
  ])('the days of the week %s', (text, days) => {
    expect([...parsed(`0 0 * * ${text}`).daysOfWeek].toSorted((a, b) => a - b)).toEqual(days)
  })

  test('names of months, whatever their case', () => {
    expect([...parsed('0 0 1 jan,Mar-MAY,12 *').months]).toEqual([1, 3, 4, 5, 12])
  })

  test('spaces and tabs of any number part them', () => {
    expect(parsed('  0\t 9   * * 1 ').hours).toEqual([9])
  })
})

describe('the two day fields', () => {
  test.each([
    ['0 0 1 * 1', true],
    ['0 0 */2 * 1', true],
    ['0 0 1-31 * 1', true],
    ['0 0 * * 1', false],
    ['0 0 */1 * 1', false],
    ['0 0 1 * *', false],
  ])('%s fits either: %s', (text, isEither) => {
    expect(parsed(text).isEitherDay).toBe(isEither)
  })
})

describe('pace', () => {
  test.each([
    ['* 3 * * *', true],
    ['*/5 3 * * *', true],
    ['0 */2 * * *', true],
    ['0-30/10 3 * * *', true],
    ['0 * * * *', true],
    ['0,30 1-4 * * *', false],
    ['0 3 */2 * *', false],
  ])('%s keeps its pace: %s', (text, isPaced) => {
    expect(parsed(text).isPaced).toBe(isPaced)
  })
})

describe('what is refused', () => {
  const FORM = 'must have five fields: minute, hour, day of month, month, day of week; '
  test.each([
    ['', `${FORM}this one has 0.`],
    ['* * * *', `${FORM}this one has 4.`],
    ['0 * * * * *', `${FORM}this one has 6.`],
    ['@daily', `${FORM}names such as "@daily" are not allowed.`],
    ['H * * * *', 'has "H" as minute: allowed are 0 to 59, ranges a-b, steps */n and lists of these.'],
    ['60 * * * *', 'has "60" as minute: allowed are 0 to 59, ranges a-b, steps */n and lists of these.'],
    ['0 24 * * *', 'has "24" as hour: allowed are 0 to 23, ranges a-b, steps */n and lists of these.'],
    ['0 0 0 * *', 'has "0" as day of month: allowed are 1 to 31, ranges a-b, steps */n and lists of these.'],
    [
      '0 0 * 13 *',
      'has "13" as month: allowed are 1 to 12, JAN to DEC, ranges a-b, steps */n and lists of these.',
    ],
    [
      '0 0 * * 8',
      'has "8" as day of week: allowed are 0 to 7, SUN to SAT, ranges a-b, steps */n and lists of these.',
    ],
    ['30-10 * * * *', 'has "30-10" as minute: its range ends before it begins.'],
    ['0 0 * * FRI-MON', 'has "FRI-MON" as day of week: its range ends before it begins.'],
    ['*/0 * * * *', 'has "*/0" as minute: a step is 1 to 59.'],
    ['*/90 * * * *', 'has "*/90" as minute: a step is 1 to 59.'],
    ['0 */24 * * *', 'has "*/24" as hour: a step is 1 to 23.'],
    ['0 0 31 2 *', 'never comes: none of its months has a day 31.'],
    ['0 0 31 4,6,9,11 *', 'never comes: none of its months has a day 31.'],
    [`0 0 ${'1,'.repeat(200)}1 * *`, 'must not be greater than 255 characters.'],
  ])('%s', (text, problem) => {
    expect(problemOf(text)).toBe(problem)
  })

  test.each([
    ['? * * * *'],
    ['0 0 L * *'],
    ['0 0 * * 1#2'],
    ['0 0 15W * *'],
    ['1,,2 * * * *'],
    [', * * * *'],
    ['-1 * * * *'],
    ['1- * * * *'],
    ['1/ * * * *'],
    ['*-5 * * * *'],
    ['**  * * * *'],
    ['1.5 * * * *'],
    ['0x1 * * * *'],
    ['1e1 * * * *'],
    ['٣ * * * *'],
    ['0 0 MON * *'],
    ['0 0 * MON *'],
    ['0 0 * * MONDAY'],
  ])('%s', (text) => {
    expect(problemOf(text)).toMatch(/^has ".*" as (?:minute|day of month|month|day of week): allowed are /)
  })

  test('a long field is shown shortened', () => {
    expect(problemOf(`${'x'.repeat(90)} * * * *`)).toContain(`has "${'x'.repeat(40)}…" as minute`)
  })
})

test('29 February and a day of the week beside an impossible day do come', () => {
  expect(problemOf('0 0 29 2 *')).toBeNull()
  expect(problemOf('0 0 31 2 1')).toBeNull()
})
