import { useState } from 'preact/hooks'
import { fromLocalInput, toLocalInput } from '../../format/local-input.ts'
import { TextField, type TextFieldProps } from './field.tsx'
import { useZone } from '../text/time.tsx'

/** What is typed of a moment as it stands in its field, in the zone of the page. */
export function useMoment(value: string, onChange: (at: string) => void) {
  const zone = useZone()
  // A year is typed digit by digit: until it has four, the field holds what means no moment yet.
  const [unfinished, setUnfinished] = useState('')
  const atMs = Date.parse(value)
  return {
    zone,
    value: unfinished || (Number.isNaN(atMs) ? '' : toLocalInput(atMs, zone)),
    onChange: (local: string) => {
      const at = fromLocalInput(local, zone)
      setUnfinished(at === null ? local : '')
      onChange(at ?? '')
    },
  }
}

/** A moment, typed in the zone of the page. Its value is as the API has it; empty = none. */
export function TimeField({
  hint,
  value,
  onChange,
  ...rest
}: Pick<TextFieldProps, 'label' | 'hint' | 'value' | 'mistakes' | 'isRequired' | 'onChange'>) {
  const { zone, ...moment } = useMoment(value, onChange)
  return (
    <TextField
      {...rest}
      type="datetime-local"
      hint={
        <>
          {hint} In {zone}.
        </>
      }
      {...moment}
    />
  )
}
