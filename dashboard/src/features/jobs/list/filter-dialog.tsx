import { useState } from 'preact/hooks'
import { useCrons } from '../../../api/reads.ts'
import { useMay } from '../../../session/me.ts'
import type { UrlQuery } from '../../../routing/url-query.ts'
import { REASONS } from '../../../format/failure-reasons.ts'
import type { FilterValues } from '../job-filter.ts'
import { Dialog, DialogForm } from '../../../ui/overlays/dialog.tsx'
import { CheckField, SelectField, TextField } from '../../../ui/forms/field.tsx'
import { TimeField } from '../../../ui/forms/time-field.tsx'

const STATUSES = [
  { value: 'pending', label: 'Pending' },
  { value: 'processing', label: 'In flight' },
  { value: 'completed', label: 'Succeeded' },
  { value: 'failed', label: 'Failed' },
  { value: 'dead_lettered', label: 'Dead letters' },
]
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
        <Statuses {...fields} />
        <Exact {...fields} />
        <Others {...fields} />
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
      <CronField {...fields} />
    </div>
  )
}

/** One status or several. */
function Statuses({ values, set }: Fields) {
  const given = new Set((values['status'] ?? '').split(',').filter((status) => status !== ''))
  const choose = (status: string, isChosen: boolean): void => {
    const chosen = STATUSES.filter(({ value }) => (value === status ? isChosen : given.has(value)))
    set('status', chosen.map(({ value }) => value).join(','))
  }
  return (
    <fieldset class="filter-statuses">
      <legend>Status</legend>
      {STATUSES.map(({ value, label }) => (
        <CheckField
          key={value}
          label={label}
          isChecked={given.has(value)}
          onChange={(isChosen) => choose(value, isChosen)}
        />
      ))}
    </fieldset>
  )
}

/** A cron by its name, of those that are offered, or the one that the address has. */
function CronField(fields: Fields) {
  const crons = useCrons()
  const { value, onChange } = fieldOf(fields, 'cron_id')
  const known = crons.map(({ id, name }) => ({ value: String(id), label: name }))
  const isKnown = value === '' || known.some((cron) => cron.value === value)
  const options = [
    { value: '', label: 'Any' },
    ...(isKnown ? [] : [{ value, label: `The cron ${value}` }]),
    ...known,
  ]
  return <SelectField label="Cron" options={options} value={value} onChange={onChange} />
}

/** What must not hold, and how long the call took. */
function Others(fields: Fields) {
  return (
    <div class="form-pair">
      <TextField label="Not in queue" {...fieldOf(fields, 'not_queue')} />
      <SelectField label="Not failed for" options={FAILURES} {...fieldOf(fields, 'not_failure_reason')} />
      <TextField label="Not answered with status" type="number" {...fieldOf(fields, 'not_response_status')} />
      <TextField label="Not at host" {...fieldOf(fields, 'not_host')} />
      <TextField
        label="Slower than, in milliseconds"
        type="number"
        placeholder="2000"
        {...fieldOf(fields, 'slower_than_ms')}
      />
    </div>
  )
}

function Text(fields: Fields) {
  const maySee = useMay('payloads')
  return (
    <TextField
      label="Text in URL, payload, error or answer"
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
