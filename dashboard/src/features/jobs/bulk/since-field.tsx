import { useState } from 'preact/hooks'
import { SelectField } from '../../../ui/forms/field.tsx'
import { TimeField } from '../../../ui/forms/time-field.tsx'

const HOUR_MS = 3_600_000
const CHOICES = [
  { value: '', label: 'All of them' },
  { value: '1', label: 'Failed in the last hour' },
  { value: '24', label: 'Failed in the last 24 hours' },
  { value: 'since', label: 'Failed since …' },
] as const
type Choice = (typeof CHOICES)[number]['value']

/** Which of the jobs are meant. @param onChange with a time as the API takes it; null = all */
export function SinceField({
  since,
  onChange,
}: {
  readonly since: string | null
  onChange(since: string | null): void
}) {
  const [choice, setChoice] = useState<Choice>('')
  const choose = (next: Choice): void => {
    setChoice(next)
    const hours = next === 'since' ? 1 : Number(next)
    onChange(next === '' ? null : new Date(Date.now() - hours * HOUR_MS).toISOString())
  }
  return (
    <div class="form">
      <SelectField label="Which" value={choice} options={CHOICES} onChange={choose} />
      {choice === 'since' && (
        <TimeField
          label="Since"
          hint="By their first attempt."
          value={since ?? ''}
          onChange={(at) => {
            if (at !== '') onChange(at)
          }}
        />
      )}
    </div>
  )
}
