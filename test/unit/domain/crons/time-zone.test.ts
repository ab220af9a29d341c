import { describe, expect, test } from 'vitest'
import { timeZoneOf } from '../../../../src/domain/crons/time-zone.ts'
import { timeZoneProblem } from '../../../../src/domain/crons/zone-problem.ts'

/** Names that ICU takes for zones, and Temporal does not. */
const ICU_ONLY = [
  'ACT',
  'AET',
  'AGT',
  'ART',
  'AST',
  'BET',
  'BST',
  'CAT',
  'CNT',
  'CST',
  'CTT',
  'EAT',
  'ECT',
  'IET',
  'IST',
  'JST',
  'MIT',
  'NET',
  'NST',
  'PLT',
  'PNT',
  'PRT',
  'PST',
  'SST',
  'VST',
  ...['AST4', 'AST4ADT', 'EST5', 'EST5EDT', 'CST6', 'CST6CDT', 'MST7', 'MST7MDT', 'PST8', 'PST8PDT', 'YST9']
    .concat('YST9YDT', 'HST10')
    .map((name) => `SystemV/${name}`),
  'US/Pacific-New',
  'Canada/East-Saskatchewan',
]
/** Links of the IANA database that no list of ICU has. */
const IANA_LINKS = [
  'UTC',
  'UCT',
  'GMT',
  'GMT0',
  'GMT+0',
  'Zulu',
  'EST',
  'MST',
  'HST',
  'EST5EDT',
  'PST8PDT',
  'CET',
  'WET',
  'Asia/Calcutta',
  'Asia/Kolkata',
  'America/Argentina/Buenos_Aires',
  'America/Port-au-Prince',
  'NZ-CHAT',
  'W-SU',
  'Etc/GMT+5',
  'Etc/GMT-14',
  'US/Pacific',
  'GB-Eire',
  'Europe/Kiev',
  'Europe/Kyiv',
  'Etc/UTC',
]
const ANY_CASE = ['europe/berlin', 'EUROPE/BERLIN', 'utc', 'america/st_johns', 'etc/gmt+5']
const NONE = [
  '',
  ' ',
  '+01:00',
  '-0330',
  'UTC+1',
  'Z',
  'Europe/Atlantis',
  'Europe',
  'local',
  'localtime',
  'Etc/GMT+13',
  '../etc/passwd',
  'Europe/Berlin\n',
  ' UTC',
  'Europe//Berlin',
  'EDT',
  'CEST',
  'constructor',
  '__proto__',
  'a'.repeat(64),
  'a'.repeat(65),
  'Europe/'.repeat(200_000),
  '\ud800',
  'Ｅurope/Berlin',
  'K',
]

function intlKnows(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}

function temporalKnows(name: string): boolean {
  try {
    return new Temporal.ZonedDateTime(0n, name).offsetNanoseconds < Infinity
  } catch {
    return false
  }
}

describe('a name is a zone exactly where its clock can be computed with', () => {
  test.each([...Intl.supportedValuesOf('timeZone'), ...IANA_LINKS, ...ANY_CASE])('%s is one', (name) => {
    const zone = timeZoneOf(name)
    expect(zone?.name).toBe(name)
    expect(timeZoneProblem(name)).toBeNull()
    expect(temporalKnows(name)).toBe(true)
    for (const year of [1, 1900, 1970, 2026, 2100, 9999]) {
      const atMs = Date.UTC(year, 5)
      const { startMs, endMs } = zone?.spanAt(atMs) ?? { startMs: NaN, endMs: NaN }
      expect(startMs <= atMs && atMs < endMs, `${year}`).toBe(true)
    }
  })

  test.each([...ICU_ONLY, 'cst', 'Pst'])('%s is none, though Intl knows it', (name) => {
    expect(intlKnows(name)).toBe(true)
    expect(temporalKnows(name)).toBe(false)
    expect(timeZoneOf(name)).toBeNull()
  })

  test.each(NONE)('%j is none', (name) => {
    expect(timeZoneOf(name)).toBeNull()
    expect(timeZoneProblem(name)).toMatch(
      /^must be the IANA name of a time zone, such as Europe\/Berlin or UTC; ".*" is none\./,
    )
  })
})

describe('the problem proposes the zone that is meant', () => {
  const proposed = (name: string) => {
    const text = timeZoneProblem(name) ?? ''
    return text.includes(' Use ') ? text.slice(text.indexOf(' Use ') + 5, -1).split(' or ') : []
  }

  test.each([
    ['CST', ['America/Chicago', 'Asia/Shanghai']],
    ['pst', ['America/Los_Angeles']],
    ['IST', ['Asia/Kolkata', 'Europe/Dublin', 'Asia/Jerusalem']],
    ['BST', ['Europe/London', 'Asia/Dhaka']],
    ['CEST', ['Europe/Berlin']],
    ['SystemV/PST8PDT', ['America/Los_Angeles']],
    ['us/pacific-new', ['America/Los_Angeles']],
    ['+01:00', ['Etc/GMT-1']],
    ['-0300', ['Etc/GMT+3']],
    ['UTC+10', ['Etc/GMT-10']],
    ['gmt-03', ['Etc/GMT+3']],
    ['+00:00', ['UTC']],
    ['Z', ['UTC']],
    ['Berlin', ['Europe/Berlin']],
    ['us/new york', ['America/New_York']],
    [' Europe/Berlin\n', ['Europe/Berlin']],
    ['America/New York', ['America/New_York']],
  ])('%j', (name, zones) => {
    expect(proposed(name)).toEqual(zones)
  })

  test.each(ICU_ONLY)('%s', (name) => {
    const zones = proposed(name)
    expect(zones.length).toBeGreaterThan(0)
    expect(zones.filter((zone) => timeZoneOf(zone) === null)).toEqual([])
  })

  test.each(['+05:30', '+15:00', '', 'Atlantis', 'constructor', '__proto__', 'x'.repeat(65)])(
    '%j means none',
    (name) => {
      expect(proposed(name)).toEqual([])
    },
  )
})
