import { SelectField } from '../../../ui/forms/field.tsx'

/** As the form holds it: a share of failures, or `''` for none. */
export type StopChoice = string

const CHOICES = [
  { value: '', label: 'However many fail again' },
  ...['5', '10', '20', '50'].map((percent) => ({ value: percent, label: `Until ${percent} % fail again` })),
]

/** As the API takes it; null = it does not stop by itself. */
export function stopWhenOf(choice: StopChoice): { readonly failed_again_percent: number } | null {
  return choice === '' ? null : { failed_again_percent: Number(choice) }
}

/** Asks how many of the new jobs may fail before the bulk stops by itself. */
export function StopField({
  choice,
  onChange,
}: {
  readonly choice: StopChoice
  onChange(choice: StopChoice): void
}) {
  return (
    <SelectField
      label="Go on"
      hint={
        choice === ''
          ? 'It makes all jobs, even while the target fails.'
          : 'It is judged once 50 jobs have ended; until then, at most 200 are under way. You can resume it.'
      }
      value={choice}
      options={CHOICES}
      onChange={onChange}
    />
  )
}
