import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const DASHBOARD = join(import.meta.dirname, '../../../dashboard')

function found(file: string, pattern: RegExp): readonly string[] {
  return [...readFileSync(join(DASHBOARD, file), 'utf8').matchAll(pattern)].map(([, name = '']) => name)
}

test('each name of an icon has its picture in the page, and each picture its name', () => {
  const names = found('src/ui/icon.tsx', /^ {2}\| '(\w+)'$/gm)
  expect(names).toContain('overview')
  expect(found('index.html', /<symbol id="icon-(\w+)"/g)).toEqual(names)
})
