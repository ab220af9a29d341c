import { useState } from 'preact/hooks'
import type { UrlQuery } from '../../routing/url-query.ts'
import { Button } from '../../ui/button.tsx'
import { ChoiceBar } from '../../ui/forms/choice-bar.tsx'
import type { Values } from './alert-filter.ts'
import { TYPES } from './alert-text.ts'
import './filter-bar.css'
import { FilterDialog } from './filter-dialog.tsx'

const CHOICES = [
  { value: '', label: 'All' },
  ...Object.entries(TYPES).map(([value, { label }]) => ({ value, label: `${label}s` })),
].map((one) => (one.label === 'Recoverys' ? { ...one, label: 'Recoveries' } : one))

/** The filters that are used most, and a button for the others. */
export function FilterBar({
  values,
  onChange,
}: {
  readonly values: Values
  readonly onChange: UrlQuery['set']
}) {
  const [isOpen, setIsOpen] = useState(false)
  const type = values['type'] ?? ''
  return (
    <div class="alert-bar">
      <ChoiceBar
        label="Type"
        options={CHOICES}
        value={type}
        onChange={(value) => onChange({ type: value })}
      />
      <div class="row">
        <Button
          isPressed={values['read'] === 'false'}
          onClick={() => onChange({ read: values['read'] === 'false' ? null : 'false' })}
        >
          Unread only
        </Button>
        <Button icon="filter" onClick={() => setIsOpen(true)}>
          Filter
        </Button>
      </div>
      {isOpen && <FilterDialog values={values} onChange={onChange} onClose={() => setIsOpen(false)} />}
    </div>
  )
}
