import { fromLocalInput, toLocalInput } from '../format/local-input.ts'
import { TextField, type TextFieldProps } from './field.tsx'
import { useZone } from './time.tsx'

/** A moment, typed in the zone of the page. Its value is as the API has it; empty = none. */
export function TimeField({
  hint,
  value,
  onChange,
  ...rest
}: Pick<TextFieldProps, 'label' | 'hint' | 'value' | 'mistakes' | 'isRequired' | 'onChange'>) {
  const zone = useZone()
  const atMs = Date.parse(value)
  return (
    <TextField
      {...rest}
      type="datetime-local"
      hint={
        <>
          {hint} In {zone}.
        </>
      }
      value={Number.isNaN(atMs) ? '' : toLocalInput(atMs, zone)}
      onChange={(local) => onChange(fromLocalInput(local, zone) ?? '')}
    />
  )
}
