import { Button } from '../button.tsx'
import type { Option } from './field.tsx'

/** One of a few, all in sight. */
export function ChoiceBar<Value extends string>({
  label,
  options,
  value,
  onChange,
}: {
  readonly label: string
  readonly options: ReadonlyArray<Option<Value>>
  readonly value: Value
  onChange(value: Value): void
}) {
  return (
    <div class="choice" role="group" aria-label={label}>
      {options.map((option) => (
        <Button
          key={option.value}
          look="bare"
          isPressed={option.value === value}
          onClick={() => onChange(option.value)}
        >
          {option.label}
        </Button>
      ))}
    </div>
  )
}
