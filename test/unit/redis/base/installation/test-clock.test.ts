import { expect, test } from 'vitest'
import { byTestClock } from '../../../../../src/redis/base/installation/test-clock.ts'
import { META } from '../../../../../src/redis/base/layout/fields.ts'
import { loadScripts } from '../../../../../src/redis/steps.ts'

const plain = Object.values(loadScripts())
const moved = loadScripts(byTestClock)

test('steps of the real time know nothing of the test clock', () => {
  expect(plain.length).toBeGreaterThan(40)
  expect(plain.filter(({ source }) => source.includes(META.testClockMs)).map(({ name }) => name)).toEqual([])
})

test('each step goes by the test clock, with its flags first and its lines where they were', () => {
  for (const { name, source } of plain) {
    const lines = moved[name as keyof typeof moved].source.split('\n')
    expect(lines.length, name).toBe(source.split('\n').length)
    expect(lines[0], name).toBe(source.split('\n')[0])
    expect(lines[1], name).toContain(`'${META.testClockMs}'`)
  }
})
