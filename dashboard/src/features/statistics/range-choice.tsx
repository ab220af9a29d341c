import { useUrlQuery } from '../../routing/url-query.ts'
import { createPreference, usePreference } from '../../preferences/preference.ts'
import { ChoiceBar } from '../../ui/forms/choice-bar.tsx'
import { type Range, RANGES, rangeOf } from './ranges.ts'

/** What was chosen last, for where the address says nothing. */
const lastRange = createPreference<string>('punctual.range', '', (text) => text)

const OPTIONS = RANGES.map(({ name, label }) => ({ value: name, label }))

/** The range of the address, and buttons that change it. */
export function useRange(): Range {
  const { values } = useUrlQuery()
  const last = usePreference(lastRange)
  return rangeOf(values['range'] ?? last)
}

export function RangeChoice() {
  const { set } = useUrlQuery()
  const chosen = useRange()
  return (
    <ChoiceBar
      label="Range"
      options={OPTIONS}
      value={chosen.name}
      onChange={(name) => {
        lastRange.set(name)
        set({ range: name })
      }}
    />
  )
}
