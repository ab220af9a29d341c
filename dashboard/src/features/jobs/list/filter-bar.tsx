import { useState } from 'preact/hooks'
import { useQueueNames } from '../../../api/reads.ts'
import type { UrlQuery } from '../../../routing/url-query.ts'
import type { FilterValues } from '../job-filter.ts'
import { Button } from '../../../ui/button.tsx'
import { ChoiceBar } from '../../../ui/forms/choice-bar.tsx'
import { LateInput } from '../../../ui/forms/late-input.tsx'
import { Menu } from '../../../ui/overlays/menu.tsx'
import './filter-bar.css'
import { FilterDialog } from './filter-dialog.tsx'

const STATUSES = [
  { value: '', label: 'All' },
  { value: 'pending', label: 'Pending' },
  { value: 'processing', label: 'In flight' },
  { value: 'completed', label: 'Succeeded' },
  { value: 'failed', label: 'Failed' },
  { value: 'dead_lettered', label: 'Dead letters' },
] as const

const RANGES = [
  { label: 'in the last 15 minutes', span: '15m' },
  { label: 'in the last hour', span: '1h' },
  { label: 'in the last 24 hours', span: '24h' },
  { label: 'in the last 7 days', span: '7d' },
]

/** The filters that are used most, and a button for the others. */
export function FilterBar({
  values,
  onChange,
}: {
  readonly values: FilterValues
  readonly onChange: UrlQuery['set']
}) {
  const [isOpen, setIsOpen] = useState(false)
  const status = values['status'] ?? ''
  return (
    <div class="filter-bar">
      <ChoiceBar
        label="Status"
        options={STATUSES}
        value={status}
        onChange={(value) => onChange({ status: value })}
      />
      <div class="bar">
        <QueueField value={values['queue'] ?? ''} onChange={onChange} />
        <TimeMenu status={status} values={values} onChange={onChange} onOther={() => setIsOpen(true)} />
        <Button icon="filter" onClick={() => setIsOpen(true)}>
          Filter
        </Button>
      </div>
      {isOpen && <FilterDialog values={values} onChange={onChange} onClose={() => setIsOpen(false)} />}
    </div>
  )
}

/** A queue by its name, of those that are offered or any other. */
function QueueField({ value, onChange }: { readonly value: string; readonly onChange: UrlQuery['set'] }) {
  const names = useQueueNames()
  return (
    <>
      <LateInput
        label="Queue"
        placeholder="Any queue"
        list="filter-queues"
        value={value}
        onChange={(queue) => onChange({ queue })}
      />
      <datalist id="filter-queues">
        {names.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </>
  )
}

/** Jobs that ended are asked for by their end, others by when they were created. */
function TimeMenu({
  status,
  values,
  onChange,
  onOther,
}: {
  readonly status: string
  readonly values: FilterValues
  readonly onChange: UrlQuery['set']
  onOther(): void
}) {
  const isByEnd = status === 'completed' || status === 'failed' || status === 'dead_lettered'
  const [name, verb] = isByEnd ? ['ended_after', 'Ended'] : ['created_after', 'Created']
  const isAny = values['ended_after'] === undefined && values['created_after'] === undefined
  return (
    <Menu
      label="Time"
      items={[
        ...RANGES.map(({ label, span }) => ({
          label: `${verb} ${label}`,
          run: () => onChange({ ...ANY_TIME, [name]: span }),
        })),
        { label: 'Since or until …', run: onOther },
        { label: 'Any time', run: () => onChange(ANY_TIME) },
      ]}
    >
      {isAny ? 'Any time' : `${verb} since …`}
    </Menu>
  )
}

const ANY_TIME = {
  created_after: null,
  created_before: null,
  scheduled_after: null,
  scheduled_before: null,
  ended_after: null,
  ended_before: null,
}
