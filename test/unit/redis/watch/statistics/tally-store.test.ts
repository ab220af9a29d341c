import { expect, test } from 'vitest'
import type { Engine } from '../../../../../src/redis/base/engine/engine.ts'
import { sound } from '../../../../../src/redis/watch/statistics/tally-store.ts'

function world() {
  const told: unknown[] = []
  const engine = {
    metrics: { setAside: (kind: string) => void told.push(kind) },
    logger: { error: (_: string, fields: Record<string, unknown>) => void told.push(fields) },
  }
  return { told, engine: engine as unknown as Engine }
}

test('a tally over which our own code throws is left out, counted and told, and the others are kept', () => {
  const { told, engine } = world()
  const turn = (isAside: boolean): string => {
    if (!isAside) throw new Error('odd')
    return 'empty'
  }
  expect(sound(engine, 'q1', turn)).toBe('empty')
  expect(told).toEqual(['statistics', { owner: 'q1', reason: 'odd' }])
})

test('a tally that can be turned is as it was, and nothing is told', () => {
  const { told, engine } = world()
  expect(sound(engine, 'q1', (isAside) => `aside: ${isAside}`)).toBe('aside: false')
  expect(told).toEqual([])
})
