import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

interface LockedPackage {
  readonly resolved?: string
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

const lock = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../../bench/peers/package-lock.json'), 'utf8'),
) as { packages: Record<string, LockedPackage> }

test('the peers are locked without addresses, and with the packages of every platform: npm ci wants both', () => {
  const names = new Set(Object.keys(lock.packages).map((path) => path.replace(/^.*node_modules\//, '')))
  const locked = Object.values(lock.packages)
  const optional = locked.flatMap((one) => Object.keys(one.optionalDependencies ?? {}))
  expect(optional.length).toBeGreaterThan(0)
  expect(optional.filter((name) => !names.has(name))).toEqual([])
  expect(locked.filter((one) => one.resolved !== undefined)).toEqual([])
})
