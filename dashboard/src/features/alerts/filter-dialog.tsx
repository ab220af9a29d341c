import { useState } from 'preact/hooks'
import type { UrlQuery } from '../../routing/url-query.ts'
import { Dialog, DialogForm } from '../../ui/overlays/dialog.tsx'
import { SelectField } from '../../ui/forms/field.tsx'
import { SubjectField } from '../../editing/subject-field.tsx'
import { TimeField } from '../../ui/forms/time-field.tsx'
import type { Values } from './alert-filter.ts'
import { REASONS } from './alert-text.ts'

const REASON_OPTIONS = [
  { value: '', label: 'Any' },
  ...Object.entries(REASONS).map(([value, label]) => ({ value, label })),
]
const OTHERS = [
  { value: '/', label: 'Anything' },
  { value: 'team/', label: 'The team' },
  { value: 'queue/', label: 'Any queue' },
  { value: 'cron/', label: 'Any cron' },
]

/** The filters that have no place in the bar. */
export function FilterDialog({
  values,
  onChange,
  onClose,
}: {
  readonly values: Values
  readonly onChange: UrlQuery['set']
  onClose(): void
}) {
  const [given, setGiven] = useState<Values>(values)
  const set = (changes: Values): void => setGiven({ ...given, ...changes })
  const timeField = (name: string) => ({
    value: given[name] ?? '',
    onChange: (at: string) => set({ [name]: at }),
  })
  return (
    <Dialog title="Filter alerts" onClose={onClose}>
      <DialogForm
        verb="Show alerts"
        onClose={onClose}
        onSave={() => {
          onChange(given)
          onClose()
        }}
      >
        <SubjectField
          label="About"
          others={OTHERS}
          value={`${given['resource_kind'] ?? ''}/${given['resource_id'] ?? ''}`}
          onChange={(value) => {
            const [kind = '', id = ''] = value.split('/')
            set({ resource_kind: kind, resource_id: id })
          }}
        />
        <SelectField
          label="Reason"
          options={REASON_OPTIONS}
          value={given['reason'] ?? ''}
          onChange={(reason) => set({ reason })}
        />
        <div class="form-pair">
          <TimeField label="Last raised from" {...timeField('after')} />
          <TimeField label="Last raised before" {...timeField('before')} />
        </div>
      </DialogForm>
    </Dialog>
  )
}
