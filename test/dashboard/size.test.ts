/** What a browser has to read. */
import { extname } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readBuiltDashboard } from '../../src/api/dashboard/built-dashboard.ts'

/** Before the first screen is there. */
const FIRST_VIEW_BYTES_MAX = 60_000
/** Once every screen has been shown. */
const JAVASCRIPT_BYTES_MAX = 144_500
const STYLES_BYTES_MAX = 15_000

const built = readBuiltDashboard()

describe.skipIf(built === null)('the built dashboard (make build)', () => {
  const sizes = [...(built?.files ?? [])].map(([path, { encoded }]) => ({
    path,
    bytes: encoded.gzip?.length ?? Number.NaN,
  }))
  const sumOf = (isCounted: (path: string) => boolean) => {
    const counted = sizes.filter(({ path }) => isCounted(path))
    expect(counted).not.toEqual([])
    return counted.reduce((sum, { bytes }) => sum + bytes, 0)
  }

  test('has a first view of few bytes, compressed by gzip', () => {
    const named = [...(built?.html ?? '').matchAll(/(?:src|href)="\.(?<path>\/assets\/[^"]+\.js)"/g)]
    const paths = new Set(named.map(({ groups }) => groups?.['path'] ?? ''))
    expect(sumOf((path) => paths.has(path))).toBeLessThanOrEqual(FIRST_VIEW_BYTES_MAX)
  })

  test.each([
    ['.js', JAVASCRIPT_BYTES_MAX],
    ['.css', STYLES_BYTES_MAX],
  ])('has few bytes of %s, all screens together', (kind, bytesMax) => {
    expect(sumOf((path) => extname(path) === kind)).toBeLessThanOrEqual(bytesMax)
  })
})
