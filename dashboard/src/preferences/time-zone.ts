import { isTimeZone } from '../format/zones.ts'
import { createPreference } from './preference.ts'

/** `local`, or the IANA name of a zone. */
export const timeZone = createPreference<string>('punctual.time-zone', 'local', (text) =>
  text === 'local' || isTimeZone(text) ? text : null,
)

/** The IANA name of what is chosen. */
export function zoneName(chosen: string): string {
  return chosen === 'local' ? Intl.DateTimeFormat().resolvedOptions().timeZone : chosen
}
