import { describe, expect, it } from 'vitest'
import { readDateTime } from '../../../../src/resources/schema/date-time.ts'

describe('a point in time', () => {
  it.each([
    ['2026-11-21T09:00:00Z', '2026-11-21T09:00:00.000Z'],
    ['2026-11-21T09:00:00.25+02:00', '2026-11-21T07:00:00.250Z'],
    ['2028-02-29T23:59:59-23:59', '2028-03-01T23:58:59.000Z'],
  ])('is read from %j', (text, expected) => {
    expect(readDateTime(text)?.toISOString()).toBe(expected)
  })

  it.each([
    '2026-02-29T09:00:00Z',
    '2026-00-01T09:00:00Z',
    '2026-11-21T09:00:00+24:00',
    '2026-11-21t09:00:00z',
    '2026-11-21T09:00:00.Z',
    ' 2026-11-21T09:00:00Z',
    '2026-11-21T9:00:00Z',
  ])('is not read from %j, which an API server refuses', (text) => {
    expect(readDateTime(text)).toBeNull()
  })
})
