import { useUrlQuery } from '../../app/url-query.ts'
import { createPreference, usePreference } from '../../preferences/preference.ts'
import { Button } from '../../ui/button.tsx'
import { type Range, RANGES, rangeOf } from './ranges.ts'

/** What was chosen last, for where the address says nothing. */
const lastRange = createPreference<string>('punctual.range', '', (text) => text)

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
    <div class="choice" role="group" aria-label="Range">
      {RANGES.map(({ name, label }) => (
        <Button
          key={name}
          look="bare"
          isPressed={name === chosen.name}
          onClick={() => {
            lastRange.set(name)
            set({ range: name })
          }}
        >
          {label}
        </Button>
      ))}
    </div>
  )
}
