import { plural } from '../../../format/numbers.ts'
import { formatDuration } from '../../../format/times.ts'
import { SelectField, TextField } from '../../../ui/forms/field.tsx'
import { rampedRate, rampedSeconds } from './bulk-actions.ts'

/** The rate as the form holds it. `choice` is a number, `''` for no rate, or `other`: then the text field counts. */
export interface Rate {
  readonly choice: string
  readonly other: string
}

const RATE_MAX = 100_000
const CHOICES = [
  { value: '', label: 'As fast as it goes' },
  ...['1', '5', '10', '50', '100', '500'].map((rate) => ({ value: rate, label: `${rate} a second` })),
  { value: 'other', label: 'Another rate …' },
]

/** Jobs a second; null = as fast as it goes. */
export function rateOf({ choice, other }: Rate): number | null | 'invalid' {
  if (choice === '') return null
  const rate = Number(choice === 'other' ? other : choice)
  return Number.isInteger(rate) && rate >= 1 && rate <= RATE_MAX ? rate : 'invalid'
}

export function RateField({
  rate,
  count,
  onChange,
}: {
  readonly rate: Rate
  readonly count: number | null
  onChange(rate: Rate): void
}) {
  const given = rateOf(rate)
  return (
    <div class="form-pair">
      <SelectField
        label="At most"
        hint={rateHint(given, count)}
        value={rate.choice}
        options={CHOICES}
        onChange={(choice) => onChange({ ...rate, choice })}
      />
      {rate.choice === 'other' && (
        <TextField
          label="Jobs a second"
          type="number"
          isRequired
          value={rate.other}
          mistakes={rate.other !== '' && given === 'invalid' ? ['A whole number from 1 to 100,000.'] : []}
          onChange={(other) => onChange({ ...rate, other })}
        />
      )}
    </div>
  )
}

function rateHint(rate: ReturnType<typeof rateOf>, count: number | null): string {
  if (rate === 'invalid') return 'Give the number of jobs a second.'
  if (rate === null)
    return 'Limits of queues hold all the same. A rate protects a target that has just come back.'
  const ramp = rate > 1 ? `Begins at ${rampedRate(rate, 0)} a second and doubles every 10 s` : 'One by one'
  if (count === null || count === 0) return `${ramp}.`
  return `${ramp}: ${plural(count, 'job')} take${count === 1 ? 's' : ''} about ${formatDuration(rampedSeconds(count, rate) * 1_000)}.`
}
