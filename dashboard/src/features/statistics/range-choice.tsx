import { useUrlQuery } from '../../app/url-query.ts'
import { Button } from '../../ui/button.tsx'
import { type Range, RANGES, rangeOf } from './ranges.ts'

/** The range of the address, and buttons that change it. */
export function useRange(): Range {
  return rangeOf(useUrlQuery().values['range'])
}

export function RangeChoice() {
  const { set } = useUrlQuery()
  const chosen = useRange()
  return (
    <div class="choice" role="group" aria-label="Range">
      {RANGES.map(({ name, label }) => (
        <Button key={name} look="bare" isPressed={name === chosen.name} onClick={() => set({ range: name })}>
          {label}
        </Button>
      ))}
    </div>
  )
}
