import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { describeCron } from '../../../../src/domain/crons/cron-description.ts'
import { parseCronExpression } from '../../../../src/domain/crons/cron-expression.ts'

function described(text: string): string {
  const expression = parseCronExpression(text)
  if ('problem' in expression) throw new Error(expression.problem)
  return describeCron(expression)
}

test.each([
  ['* * * * *', 'Every minute'],
  ['*/5 * * * *', 'Every 5 minutes'],
  ['*/30 * * * *', 'Every 30 minutes'],
  ['*/40 * * * *', 'At 0 and 40 minutes past the hour'],
  ['15,45 * * * *', 'At 15 and 45 minutes past the hour'],
  ['1-59/2 * * * *', 'Every 2 minutes, minutes 1 through 59 past the hour'],
  ['*/7,3 * * * *', 'At 0, 3, 7, 14, 21, 28, 35, 42, 49, and 56 minutes past the hour'],
  ['3-3 * * * *', 'At 3 minutes past the hour'],
  ['0 */1 * * *', 'Every hour'],
  ['0 0/4 * * *', 'On the hour, every 4 hours'],
  ['0 9-17/2 * * *', 'On the hour, every 2 hours, between 09:00 and 17:00'],
  ['5 4 * * *', 'At 04:05'],
  ['30 18 * * *', 'At 18:30'],
  ['0 9,10 * * *', 'At 09:00 and 10:00'],
  ['*/15 3-4 * * *', 'Every 15 minutes, between 03:00 and 04:59'],
  ['5-10 9-17 * * *', 'Minutes 5 through 10 past the hour, between 09:00 and 17:59'],
])('the times of %s', (text, description) => {
  expect(described(text)).toBe(description)
})

test.each([
  ['0 9 1 * *', 'At 09:00, on day 1 of the month'],
  ['0 9 */1 * 1', 'At 09:00, only on Monday'],
  ['0 9 * * 1', 'At 09:00, only on Monday'],
  ['0 9 1 * 1', 'At 09:00, on day 1 of the month or on Monday'],
  ['0 9 1 1 MON', 'At 09:00, on day 1 of the month or on Monday, only in January'],
  ['0 9 1,15 * 1,5', 'At 09:00, on day 1 and 15 of the month or on Monday and Friday'],
  ['0 9 1 * 1-5', 'At 09:00, on day 1 of the month or Monday through Friday'],
  ['30 4 1-7 * SUN', 'At 04:30, between day 1 and 7 of the month or on Sunday'],
  ['0 0 */2 * 1', 'At 00:00, every 2 days in a month or on Monday'],
  ['0 0 1,15-20,28 * *', 'At 00:00, on day 1, 15 through 20, and 28 of the month'],
])('the days of %s', (text, description) => {
  expect(described(text)).toBe(description)
})

test.each([
  ['0 0 1-31 * 1', 'At 00:00'],
  ['0 0 1 * SUN-SAT', 'At 00:00'],
  ['0 0 * * *,2', 'At 00:00'],
])('every day, however %s is written', (text, description) => {
  expect(described(text)).toBe(description)
})

test.each([
  ['0 0 * * 7', 'At 00:00, only on Sunday'],
  ['0 0 * * 0,7', 'At 00:00, only on Sunday'],
  ['0 0 * * FRI-SUN', 'At 00:00, Friday through Sunday'],
  ['0 0 * * 6,0', 'At 00:00, only on Saturday and Sunday'],
  ['0 0 * * 1-5/2', 'At 00:00, only on Monday, Wednesday, and Friday'],
  ['0 0 * JAN-MAR *', 'At 00:00, January through March'],
  ['0 0 * */3 *', 'At 00:00, only in January, April, July, and October'],
  ['59 23 31 12 *', 'At 23:59, on day 31 of the month, only in December'],
  ['*/20 8,10 */10 6 2', expect.stringMatching(/every 10 days in a month or on Tuesday, only in June$/)],
])('weekdays and months of %s', (text, description) => {
  expect(described(text)).toEqual(description)
})

const field = (first: number, last: number) =>
  fc
    .array(
      fc.oneof(
        fc.constant('*'),
        fc.integer({ min: 1, max: last - first }).map((step) => `*/${step}`),
        fc.integer({ min: first, max: last }).map(String),
        fc
          .tuple(fc.integer({ min: first, max: last }), fc.integer({ min: first, max: last }))
          .map(([one, other]) => `${Math.min(one, other)}-${Math.max(one, other)}`),
      ),
      { minLength: 1, maxLength: 3 },
    )
    .map((items) => items.join(','))

const expressions = fc
  .tuple(field(0, 59), field(0, 23), field(1, 31), field(1, 12), field(0, 6))
  .map((fields) => fields.join(' '))
  .filter((text) => !('problem' in parseCronExpression(text)))

test('a description is a sentence, and says "or" only for either of two days, whatever the expression', () => {
  fc.assert(
    fc.property(expressions, (text) => {
      const expression = parseCronExpression(text)
      if ('problem' in expression) throw new Error(expression.problem)
      const description = describeCron(expression)
      expect(description).toMatch(/^[A-Z](?!.*(?:undefined|NaN|\*|\/|null|, ,|only or))[\w :,-]*[\w]$/)
      const { isEitherDay, daysOfMonth, daysOfWeek } = expression
      const isRestricted = isEitherDay && daysOfMonth.size < 31 && daysOfWeek.size < 7
      expect(/ or /.test(description)).toBe(isRestricted)
    }),
    { numRuns: 500 },
  )
})
