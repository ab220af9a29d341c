import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '../../../..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')

/** `GET /api/queues` → the permission that its route names; null = any principal. */
function permissionsInCode(): Map<string, string | null> {
  const found = new Map<string, string | null>()
  const part = /'(\/api\/[^']+)': \{|\b(GET|POST|PATCH|PUT|DELETE): needs(?:InQueues)?\(\s*(?:'(\w+)'|null)/g
  for (const file of globSync('src/api/**/*.ts', { cwd: ROOT })) {
    let path = ''
    for (const [, route, method = '', permission = null] of read(file).matchAll(part)) {
      if (route === undefined) found.set(`${method} ${path}`, permission)
      else path = route.replace(/:(\w+)/g, '{$1}')
    }
  }
  return found
}

test('the page names no operation with another permission than its route', () => {
  const code = permissionsInCode()
  const rows = [
    ...read('docs/reference/access.md').matchAll(/^\| `([A-Z]+ \/api\/[^`]+)` +\| (?:none|`(\w+)`) +\|$/gm),
  ]
  expect(rows.length).toBeGreaterThan(30)
  const wrong = rows.filter(([, operation = '', permission = null]) => code.get(operation) !== permission)
  expect(wrong.map(([row]) => row)).toEqual([])
})
