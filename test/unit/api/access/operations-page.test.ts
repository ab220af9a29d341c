import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { operations } from '../../../support/rules/contract-document.ts'

const PAGE = join(import.meta.dirname, '../../../../docs/reference/access.md')

test('the page names all operations, with the permissions of the contract', () => {
  const rows = readFileSync(PAGE, 'utf8').matchAll(/^\| `([A-Z]+ \/api\/[^`]+)` +\| (?:none|`(\w+)`) +\|$/gm)
  const written = [...rows].map(([, operation, permission = null]) => `${operation}: ${permission}`)
  const needed = operations().map(
    ({ method, path, operation }) => `${method} ${path}: ${operation['x-permission'] ?? null}`,
  )
  expect(written.toSorted()).toEqual(needed.toSorted())
})
