/** What a browser has to read, all screens together. */
import { extname } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readBuiltDashboard } from '../../src/api/dashboard/built-dashboard.ts'

const JAVASCRIPT_BYTES_MAX = 91_000
const STYLES_BYTES_MAX = 15_000

const built = readBuiltDashboard()

describe.skipIf(built === null)('the built dashboard (make build)', () => {
  test.each([
    ['.js', JAVASCRIPT_BYTES_MAX],
    ['.css', STYLES_BYTES_MAX],
  ])('has few bytes of %s, compressed by gzip', (kind, bytesMax) => {
    const sizes = [...(built?.files ?? [])]
      .filter(([path]) => extname(path) === kind)
      .map(([, { encoded }]) => encoded.gzip?.length ?? Number.NaN)
    expect(sizes).not.toEqual([])
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(bytesMax)
  })
})
