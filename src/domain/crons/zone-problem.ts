import { excerpt } from '../excerpt.ts'
import { timeZoneOf } from './time-zone.ts'

const SHOWN_CHARACTERS_MAX = 64
/** `+01:00`, `UTC+1`, `GMT-03`: whole hours, which have zones. */
const OFFSET = /^(?:UTC|GMT)?([+-])(\d{1,2})(?::?00)?$/i

/**
 * Zones meant by names that people use and Temporal does not know: abbreviations, some of them ambiguous, and names
 * that ICU keeps from before the IANA database.
 */
const MEANT: Readonly<Record<string, readonly string[]>> = {
  Z: ['UTC'],
  // North America
  NST: ['America/St_Johns', 'Pacific/Auckland'],
  NDT: ['America/St_Johns'],
  CNT: ['America/St_Johns'],
  AST: ['America/Halifax', 'America/Anchorage'],
  ADT: ['America/Halifax'],
  PRT: ['America/Puerto_Rico'],
  EDT: ['America/New_York'],
  ET: ['America/New_York'],
  IET: ['America/Indiana/Indianapolis'],
  CST: ['America/Chicago', 'Asia/Shanghai'],
  CDT: ['America/Chicago'],
  CT: ['America/Chicago'],
  MDT: ['America/Denver'],
  MT: ['America/Denver'],
  PNT: ['America/Phoenix'],
  PST: ['America/Los_Angeles'],
  PDT: ['America/Los_Angeles'],
  PT: ['America/Los_Angeles'],
  AKST: ['America/Anchorage'],
  AKDT: ['America/Anchorage'],
  'US/PACIFIC-NEW': ['America/Los_Angeles'],
  'CANADA/EAST-SASKATCHEWAN': ['America/Regina'],
  // South America
  AGT: ['America/Argentina/Buenos_Aires'],
  ART: ['America/Argentina/Buenos_Aires', 'Africa/Cairo'],
  BET: ['America/Sao_Paulo'],
  BRT: ['America/Sao_Paulo'],
  // Europe
  BST: ['Europe/London', 'Asia/Dhaka'],
  WEST: ['Europe/Lisbon'],
  CEST: ['Europe/Berlin'],
  MEZ: ['Europe/Berlin'],
  MESZ: ['Europe/Berlin'],
  ECT: ['Europe/Paris', 'America/Guayaquil'],
  EEST: ['Europe/Athens'],
  MSK: ['Europe/Moscow'],
  // Africa
  CAT: ['Africa/Maputo'],
  EAT: ['Africa/Nairobi'],
  SAST: ['Africa/Johannesburg'],
  WAT: ['Africa/Lagos'],
  // Asia
  CTT: ['Asia/Shanghai'],
  GST: ['Asia/Dubai'],
  HKT: ['Asia/Hong_Kong'],
  IST: ['Asia/Kolkata', 'Europe/Dublin', 'Asia/Jerusalem'],
  JST: ['Asia/Tokyo'],
  KST: ['Asia/Seoul'],
  NET: ['Asia/Yerevan'],
  PKT: ['Asia/Karachi'],
  PLT: ['Asia/Karachi'],
  SGT: ['Asia/Singapore'],
  VST: ['Asia/Ho_Chi_Minh'],
  WIB: ['Asia/Jakarta'],
  // Australia and the Pacific
  ACT: ['Australia/Darwin'],
  ACST: ['Australia/Darwin', 'Australia/Adelaide'],
  ACDT: ['Australia/Adelaide'],
  AET: ['Australia/Sydney'],
  AEST: ['Australia/Sydney', 'Australia/Brisbane'],
  AEDT: ['Australia/Sydney'],
  AWST: ['Australia/Perth'],
  MIT: ['Pacific/Apia'],
  NZST: ['Pacific/Auckland'],
  NZDT: ['Pacific/Auckland'],
  SST: ['Pacific/Pago_Pago', 'Pacific/Guadalcanal'],
  // System V
  'SYSTEMV/AST4': ['America/Puerto_Rico'],
  'SYSTEMV/AST4ADT': ['America/Halifax'],
  'SYSTEMV/EST5': ['America/Panama'],
  'SYSTEMV/EST5EDT': ['America/New_York'],
  'SYSTEMV/CST6': ['America/Regina'],
  'SYSTEMV/CST6CDT': ['America/Chicago'],
  'SYSTEMV/MST7': ['America/Phoenix'],
  'SYSTEMV/MST7MDT': ['America/Denver'],
  'SYSTEMV/PST8': ['Pacific/Pitcairn'],
  'SYSTEMV/PST8PDT': ['America/Los_Angeles'],
  'SYSTEMV/YST9': ['Pacific/Gambier'],
  'SYSTEMV/YST9YDT': ['America/Anchorage'],
  'SYSTEMV/HST10': ['Pacific/Honolulu'],
}

/** Explains what is wrong with the name of a time zone, as the end of a sentence; null = nothing. */
export function timeZoneProblem(name: string): string | null {
  return timeZoneOf(name) === null ? noTimeZone(name) : null
}

/** Explains a name that is known to be no time zone, like `timeZoneProblem`. */
export function noTimeZone(name: string): string {
  const shown = JSON.stringify(excerpt(name, SHOWN_CHARACTERS_MAX))
  const meant = zonesMeant(name)
  const advice = meant.length === 0 ? '' : ` Use ${meant.join(' or ')}.`
  return `must be the IANA name of a time zone, such as Europe/Berlin or UTC; ${shown} is none.${advice}`
}

/** The zones that a name that is none may mean, the likeliest first. */
function zonesMeant(name: string): readonly string[] {
  if (name.length > SHOWN_CHARACTERS_MAX) return []
  const sought = name.trim()
  const known = MEANT[sought.toUpperCase()]
  if (known !== undefined) return known
  const found = [zoneOfOffset(sought) ?? '', sought.replaceAll(/\s+/g, '_')].find(
    (one) => timeZoneOf(one) !== null,
  )
  return found === undefined ? zonesOfPlace(sought) : [found]
}

/** `Etc/GMT-1` is an hour ahead of UTC: the sign of these names is the other way round. */
function zoneOfOffset(text: string): string | null {
  const [, sign, hours] = OFFSET.exec(text) ?? []
  if (sign === undefined) return null
  return Number(hours) === 0 ? 'UTC' : `Etc/GMT${sign === '+' ? '-' : '+'}${Number(hours)}`
}

let places: ReadonlyMap<string, readonly string[]> | null = null

/** `Berlin`, `us/new york`. */
function zonesOfPlace(text: string): readonly string[] {
  places ??= Map.groupBy(Intl.supportedValuesOf('timeZone'), placeIn)
  return places.get(placeIn(text).replaceAll(/[\s-]+/g, '_')) ?? []
}

function placeIn(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1).toLowerCase()
}
