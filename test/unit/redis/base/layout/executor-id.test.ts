import { expect, test } from 'vitest'
import {
  executorIdOf,
  nameOfExecutor,
  slotsOfExecutor,
} from '../../../../../src/redis/base/layout/executor-id.ts'

test.each(['punctual-executor-7d9c-abcde', 'host.example', 'standalone'])('%s is found in its id', (name) => {
  const ids = ['Zk3-_1', 'b'.repeat(12)].map((nonce) => executorIdOf(name, { nonce, slots: 32 }))
  expect(new Set(ids).size).toBe(2)
  expect(ids.map(nameOfExecutor)).toEqual([name, name])
  expect(ids.map(slotsOfExecutor)).toEqual([32, 32])
})

test('an id holds no blank and no other marks, whatever the host is called', () => {
  expect(executorIdOf('my ~host', { nonce: 'x', slots: 1 })).toBe('my--host~x~1')
})

test('an id without a name is its own', () => {
  expect(nameOfExecutor('Zk3-_1')).toBe('Zk3-_1')
})

test.each(['Zk3-_1', 'host~Zk3-_1', 'host~x~', 'host~x~many', 'host~x~0'])(
  '%s says no slots, as ids of an earlier version do',
  (id) => {
    expect(slotsOfExecutor(id)).toBeNull()
  },
)
