import { expect, test } from 'vitest'
import { accepted, GOOD, refused } from '../../../support/engine/push-fixture.ts'

/** What a refusal may cost: no more than an acceptance. */

/** `field0`, `field1`, … */
function unknownFields(count: number): Record<string, number> {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`field${i}`, i]))
}

test('names twenty unknown fields beside every other mistake', () => {
  const { errors } = refused({ ...unknownFields(20), queue: '' })
  expect(Object.keys(errors)).toHaveLength(22)
  expect(errors['field19']).toEqual(['The field19 field is unknown.'])
})

test('says of more than twenty that there are more, and looks no further', () => {
  // What follows the 21st is not read: it is neither JSON nor does it cost anything.
  const start = JSON.stringify({ queue: '', ...unknownFields(21) }).slice(0, -1)
  const { message, errors } = refused(`${start},"url":"https://example.com",and no JSON`)
  expect(message).toBe('The field0 field is unknown.')
  expect(Object.keys(errors)).toEqual(Object.keys(unknownFields(20)))
  expect(errors['field19']).toEqual([
    'The field19 field is unknown.',
    'There are more unknown fields than these 20.',
  ])
})

test('shortens long names', () => {
  expect(refused({ ...GOOD, ['y'.repeat(500_000)]: 1 }).message.length).toBeLessThan(200)
})

test('takes a field a hundred times more, the last counts, and then looks no further', () => {
  const repeated = (times: number) => '"delay":1,'.repeat(times)
  const url = '"queue":"emails","url":"https://example.com/hook"'
  expect(accepted(`{"delay":5,${repeated(100)}${url}}`).start).toEqual({ delaySeconds: 1 })
  expect(refused(`{"delay":5,${repeated(101)}and no JSON`).errors).toEqual({
    delay: ['The delay field has a duplicate value.'],
  })
})

test.each([
  ['headers', Object.fromEntries(Array.from({ length: 256 }, (_, i) => [`x-${i}`, 'a']))],
  ['headers', { 'x-a': Array(256).fill(1) }],
  ['tags', Object.fromEntries(Array.from({ length: 256 }, (_, i) => [`t${i}`, 'a']))],
  ['retry_delays', Array(256).fill(60)],
  ['timeout_seconds', Array(256).fill([])],
])('%s of hundreds of values are not even built', (field, value) => {
  expect(refused({ ...GOOD, [field]: value }).errors).toEqual({
    [field]: [`The ${field.replaceAll('_', ' ')} field must not hold more than 256 values.`],
  })
})

test('one value less is told by the rules of its field', () => {
  expect(refused({ ...GOOD, retry_delays: Array(255).fill(60) }).message).toBe(
    'The retry delays field must have between 1 and 10 items.',
  )
})
