import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readTaskTable } from '../support/tasks/task-table.ts'

test('docs/dashboard.md lists the sixteen tasks that the tests here do, and no other', () => {
  const tests = globSync('*.test.ts', { cwd: import.meta.dirname }).flatMap((name) =>
    Array.from(
      readFileSync(join(import.meta.dirname, name), 'utf8').matchAll(/^test\(\s*'([^']+)',\s*task\(/gm),
      ([, task = '']) => task,
    ),
  )
  const listed = readTaskTable()
  expect(listed.map(({ name }) => name).toSorted()).toEqual(tests.toSorted())
  expect(listed.length).toBe(16)
  for (const { clicks, fields, commands } of listed) {
    expect([clicks, fields].every(Number.isInteger)).toBe(true)
    expect(commands.length).toBeGreaterThan(0)
  }
})
