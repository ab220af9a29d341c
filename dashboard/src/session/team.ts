import { createPreference } from '../preferences/preference.ts'

/** For users of several teams, the one that was chosen last in this browser; empty = the session's own. */
export const team = createPreference<string>('punctual.team', '', (text) => text)
