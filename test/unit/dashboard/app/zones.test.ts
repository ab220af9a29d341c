import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { isTimeZone, offsetOf, placeOf, zonesFor } from '../../../../dashboard/src/format/zones.ts'

describe('finding a time zone', () => {
  test('UTC and the own zone come first, and all others after them once', () => {
    const all = zonesFor('', 'Europe/Berlin')
    expect(all.slice(0, 2)).toEqual(['UTC', 'Europe/Berlin'])
    expect(new Set(all).size).toBe(all.length)
    expect(all.length).toBeGreaterThan(300)
    expect(all.every(isTimeZone)).toBe(true)
  })

  test.each([
    ['new york', 'America/New_York'],
    ['york america', 'America/New_York'],
    ['berl', 'Europe/Berlin'],
    ['utc', 'UTC'],
    // Whether a browser lists these or others for them differs.
    ['kolkata', 'Asia/Kolkata'],
    ['asia/ho chi minh', 'Asia/Ho_Chi_Minh'],
  ])('%j finds %s', (sought, zone) => {
    expect(zonesFor(sought, 'UTC')[0]).toBe(zone)
  })

  test('what no zone is named finds nothing', () => {
    expect(zonesFor('Atlantis', 'UTC')).toEqual([])
    expect(zonesFor('<script>', 'UTC')).toEqual([])
  })

  test.each(['CST', 'pst', 'SystemV/PST8PDT', 'US/Pacific-New', '+01:00'])(
    '%s, which the scheduler refuses, is not offered',
    (name) => {
      expect(isTimeZone(name)).toBe(false)
      expect(zonesFor(name, 'UTC').filter((zone) => zone.toLowerCase() === name.toLowerCase())).toEqual([])
    },
  )

  test('a browser without Temporal asks Intl', () => {
    vi.stubGlobal('Temporal', undefined)
    onTestFinished(() => void vi.unstubAllGlobals())
    expect(['Europe/Berlin', 'Europe/Atlantis', '+01:00'].map(isTimeZone)).toEqual([true, false, false])
  })

  test('its offset is the one of the moment', () => {
    expect(offsetOf('Europe/Berlin', Date.parse('2026-01-15T00:00:00Z'))).toBe('UTC+1')
    expect(offsetOf('Europe/Berlin', Date.parse('2026-07-15T00:00:00Z'))).toBe('UTC+2')
    expect(offsetOf('Asia/Kolkata', 0)).toBe('UTC+5:30')
    expect(placeOf('America/Argentina/Buenos_Aires')).toBe('Buenos Aires')
  })
})
