import { useState } from 'preact/hooks'
import { useMay } from '../../api/me.ts'
import type { UrlQuery } from '../../app/url-query.ts'
import { REASONS } from '../../format/failure-reasons.ts'
import type { FilterValues } from '../../format/job-filter.ts'
import { Dialog, DialogForm } from '../../ui/dialog.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { TimeField } from '../../ui/time-field.tsx'

const FINAL_STATUSES = [
  { value: '', label: 'Any' },
  { value: 'success', label: 'Succeeded' },
  { value: 'retrying', label: 'Retrying' },
  { value: 'failed_with_retries', label: 'Failed, as a retry' },
  { value: 'failed_no_retries', label: 'Failed, no dead letter' },
  { value: 'dead_lettered', label: 'Dead letter, or was one' },
]
const FAILURES = [
  { value: '', label: 'Any' },
  ...Object.entries(REASONS).map(([value, label]) => ({ value, label })),
]

const TIMES = [
  { name: 'created', label: 'Created' },
  { name: 'scheduled', label: 'Due' },
  { name: 'ended', label: 'Ended' },
]

interface Fields {
  readonly values: FilterValues
  set(name: string, value: string): void
}

/** All filters at once. */
export function FilterDialog({
  values,
  onChange,
  onClose,
}: {
  readonly values: FilterValues
  readonly onChange: UrlQuery['set']
  onClose(): void
}) {
  const [given, setGiven] = useState<FilterValues>(values)
  const fields: Fields = { values: given, set: (name, value) => setGiven({ ...given, [name]: value }) }
  return (
    <Dialog title="Filter jobs" size="large" onClose={onClose}>
      <DialogForm
        verb="Show jobs"
        onClose={onClose}
        onSave={() => {
          onChange(given)
          onClose()
        }}
      >
        <Exact {...fields} />
        <Text {...fields} />
        <Times {...fields} />
      </DialogForm>
    </Dialog>
  )
}

function fieldOf({ values, set }: Fields, name: string) {
  return { value: values[name] ?? '', onChange: (value: string) => set(name, value) }
}

function Exact(fields: Fields) {
  return (
    <div class="form-pair">
      <SelectField label="Final status" options={FINAL_STATUSES} {...fieldOf(fields, 'final_status')} />
      <SelectField label="Failed for" options={FAILURES} {...fieldOf(fields, 'failure_reason')} />
      <TextField
        label="Answered with status"
        type="number"
        placeholder="503"
        {...fieldOf(fields, 'response_status')}
      />
      <TextField label="Host" placeholder="api.example.com" {...fieldOf(fields, 'host')} />
      <TextField label="Tag" placeholder="tenant:acme" {...fieldOf(fields, 'tag')} />
      <TextField label="Cron, by its id" type="number" {...fieldOf(fields, 'cron_id')} />
    </div>
  )
}

function Text(fields: Fields) {
  const maySee = useMay('payloads')
  return (
    <TextField
      label="Text in URL or payload"
      hint={maySee ? 'Looks through records, step by step.' : 'Your role does not see payloads.'}
      disabled={!maySee}
      {...fieldOf(fields, 'text')}
    />
  )
}

function Times(fields: Fields) {
  return (
    <div class="form-pair">
      {TIMES.map(({ name, label }) => (
        <div key={name} class="form">
          <TimeField label={`${label} from`} {...fieldOf(fields, `${name}_after`)} />
          <TimeField label={`${label} before`} {...fieldOf(fields, `${name}_before`)} />
        </div>
      ))}
    </div>
  )
}
