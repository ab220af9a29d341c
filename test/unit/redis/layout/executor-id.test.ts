import { expect, test } from 'vitest'
import { executorIdOf, nameOfExecutor } from '../../../../src/redis/layout/executor-id.ts'

test.each(['punctual-executor-7d9c-abcde', 'host.example', 'standalone'])('%s is found in its id', (name) => {
  const ids = [executorIdOf(name, 'Zk3-_1'), executorIdOf(name, 'b'.repeat(12))]
  expect(new Set(ids).size).toBe(2)
  expect(ids.map(nameOfExecutor)).toEqual([name, name])
})

test('an id holds no blank and one mark, whatever the host is called', () => {
  expect(executorIdOf('my ~host', 'x')).toBe('my--host~x')
})

test('an id without a name is its own', () => {
  expect(nameOfExecutor('Zk3-_1')).toBe('Zk3-_1')
})
