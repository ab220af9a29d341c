import { useState } from 'preact/hooks'
import type { UrlQuery } from '../../app/url-query.ts'
import { fromLocalInput, toLocalInput } from '../../format/local-input.ts'
import { Dialog, DialogForm } from '../../ui/dialog.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { SubjectField } from '../../ui/subject-field.tsx'
import { useZone } from '../../ui/time.tsx'
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
  const zone = useZone()
  const timeField = (name: string) => {
    const atMs = Date.parse(given[name] ?? '')
    return {
      type: 'datetime-local' as const,
      hint: `In ${zone}.`,
      value: Number.isNaN(atMs) ? '' : toLocalInput(atMs, zone),
      onChange: (local: string) => set({ [name]: fromLocalInput(local, zone) ?? '' }),
    }
  }
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
          <TextField label="Last raised from" {...timeField('after')} />
          <TextField label="Last raised before" {...timeField('before')} />
        </div>
      </DialogForm>
    </Dialog>
  )
}
