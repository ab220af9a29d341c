import { createPreference } from './preference.ts'

/** How times are shown: how long ago, or as stamps of the clock in the chosen zone. */
export const timeForm = createPreference<'relative' | 'stamp'>('punctual.times', 'relative', (text) =>
  text === 'relative' || text === 'stamp' ? text : null,
)
