import { useState } from 'preact/hooks'
import { fromLocalInput, toLocalInput } from '../../format/local-input.ts'
import { SelectField, TextField } from '../../ui/field.tsx'
import { useZone } from '../../ui/time.tsx'

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
  const zone = useZone()
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
        <TextField
          label="Since"
          hint={`By their first attempt, in ${zone}.`}
          type="datetime-local"
          value={since === null ? '' : toLocalInput(Date.parse(since), zone)}
          onChange={(value) => {
            const at = fromLocalInput(value, zone)
            if (at !== null) onChange(at)
          }}
        />
      )}
    </div>
  )
}
