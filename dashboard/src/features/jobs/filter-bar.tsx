import { useState } from 'preact/hooks'
import { useRead } from '../../api/reads.ts'
import { useMay } from '../../api/me.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import './filter-bar.css'

type Values = Readonly<Record<string, string>>
type Change = (changes: Readonly<Record<string, string | null>>) => void

const STATUSES = [
  { value: '', label: 'All' },
  { value: 'pending', label: 'Pending' },
  { value: 'processing', label: 'In flight' },
  { value: 'completed', label: 'Succeeded' },
  { value: 'failed', label: 'Failed' },
  { value: 'dead_lettered', label: 'Dead letters' },
] as const

const QUEUES_OFFERED_MAX = 1_000

/** The filters that are used most, and a button for the others. */
export function FilterBar({ values, onChange }: { readonly values: Values; onChange: Change }) {
  const [isOpen, setIsOpen] = useState(false)
  const status = values['status'] ?? ''
  return (
    <div class="filter-bar">
      <div class="choice" role="group" aria-label="Status">
        {STATUSES.map(({ value, label }) => (
          <Button
            key={value}
            look="bare"
            isPressed={status === value}
            onClick={() => onChange({ status: value })}
          >
            {label}
          </Button>
        ))}
      </div>
      <Button icon="filter" onClick={() => setIsOpen(true)}>
        Filter
      </Button>
      {isOpen && <FilterDialog values={values} onChange={onChange} onClose={() => setIsOpen(false)} />}
    </div>
  )
}

const REASONS = [
  ...['timeout', 'connection_error', 'dns_error', 'ssl_error', 'http_client_error', 'http_server_error'],
  ...[
    'http_redirect',
    'invalid_url',
    'blocked_target',
    'assertion_failed',
    'executor_lost',
    'limit_exceeded',
  ],
]
const FINAL_STATUSES = ['success', 'retrying', 'failed_with_retries', 'failed_no_retries', 'dead_lettered']

function optionsOf(values: readonly string[]) {
  const all = values.map((value) => ({ value, label: value.replaceAll('_', ' ') }))
  return [{ value: '', label: 'Any' }, ...all]
}

function FilterDialog({
  values,
  onChange,
  onClose,
}: {
  readonly values: Values
  onChange: Change
  onClose(): void
}) {
  const [given, setGiven] = useState<Values>(values)
  const queues = useRead('listQueues', { limit: QUEUES_OFFERED_MAX }, { isLive: false })
  const maySee = useMay('payloads')
  const field = (name: string) => ({
    value: given[name] ?? '',
    onChange: (value: string) => setGiven({ ...given, [name]: value }),
  })
  return (
    <Dialog title="Filter jobs" onClose={onClose}>
      <form
        class="dialog-form"
        onSubmit={(event) => {
          event.preventDefault()
          onChange(given)
          onClose()
        }}
      >
        <TextField
          label="Queue"
          {...field('queue')}
          offered={(queues.data?.queues ?? []).map(({ name }) => name)}
        />
        <div class="form-pair">
          <SelectField label="Final status" options={optionsOf(FINAL_STATUSES)} {...field('final_status')} />
          <SelectField label="Failed for" options={optionsOf(REASONS)} {...field('failure_reason')} />
          <TextField label="Answered with status" type="number" {...field('response_status')} />
          <TextField label="Host" placeholder="api.example.com" {...field('host')} />
          <TextField label="Tag" placeholder="tenant:acme" {...field('tag')} />
          <TextField label="Cron, by its id" type="number" {...field('cron_id')} />
        </div>
        {maySee && (
          <TextField
            label="Text in URL or payload"
            hint="Looks through records, newest first."
            {...field('text')}
          />
        )}
        <footer class="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="main">
            Show jobs
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}
