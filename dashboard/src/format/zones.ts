import { matching } from './match.ts'

/** Names of zones that fit what was typed, by any of their words; UTC and the browser's own are before all others. */
export function zonesFor(sought: string, own: string): readonly string[] {
  const all = [...new Set(['UTC', own, ...Intl.supportedValuesOf('timeZone')])]
  const found = matching(sought, all, (zone) => zone.replaceAll('_', ' '))
  if (found.length > 0) return found
  // A browser lists one name of each zone, such as Asia/Calcutta, and knows the others too.
  const name = sought.trim().replaceAll(/\s+/g, '_')
  const regions = new Set(all.map((zone) => zone.split('/')[0]))
  return [name, ...[...regions].map((region) => `${region}/${name}`)].filter(isTimeZone).map(properName)
}

/**
 * Whether the scheduler takes the name, as far as a browser can tell. It computes by Temporal, which does not know names
 * such as `CST` that Intl takes from ICU; a browser without Temporal asks Intl. An offset such as `+01:00` is no zone.
 */
export function isTimeZone(name: string): boolean {
  if (!/^[a-z]/i.test(name)) return false
  try {
    if (typeof Temporal === 'undefined') Intl.DateTimeFormat('en', { timeZone: name })
    else Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name)
    return true
  } catch {
    return false
  }
}

/** `asia/ho_chi_minh` → `Asia/Ho_Chi_Minh`: zones are known by any case, and shown by one. */
function properName(zone: string): string {
  return zone.includes('/') ? zone.replaceAll(/(?<=^|[/_-])\p{L}/gu, (letter) => letter.toUpperCase()) : zone
}

/** Such as `New York`; the whole name where there is no place in it. */
export function placeOf(zone: string): string {
  return zone.split('/').at(-1)?.replaceAll('_', ' ') ?? zone
}

/** Such as `UTC+1`, at a time. */
export function offsetOf(zone: string, atMs: number): string {
  const parts = new Intl.DateTimeFormat('en', {
    timeZone: zone,
    timeZoneName: 'shortOffset',
  }).formatToParts(atMs)
  const name = parts.find(({ type }) => type === 'timeZoneName')?.value ?? ''
  return name.replace('GMT', 'UTC')
}
