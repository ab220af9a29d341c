import { useState } from 'preact/hooks'
import { useRead } from '../../api/reads.ts'
import type { UrlQuery } from '../../app/url-query.ts'
import { fromLocalInput, toLocalInput } from '../../format/local-input.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { useZone } from '../../ui/time.tsx'
import type { Values } from './alert-filter.ts'
import { REASONS } from './alert-text.ts'

const REASON_OPTIONS = [
  { value: '', label: 'Any' },
  ...Object.entries(REASONS).map(([value, label]) => ({ value, label })),
]
const READ_OPTIONS = [
  { value: '', label: 'Read and unread' },
  { value: 'false', label: 'Unread only' },
  { value: 'true', label: 'Read only' },
]
const OFFERED_MAX = 1_000

/** All filters at once, but the type. */
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
      <form
        class="dialog-form"
        onSubmit={(event) => {
          event.preventDefault()
          onChange(given)
          onClose()
        }}
      >
        <SubjectField values={given} onChange={set} />
        <SelectField
          label="Reason"
          options={REASON_OPTIONS}
          value={given['reason'] ?? ''}
          onChange={(reason) => set({ reason })}
        />
        <SelectField
          label="Show"
          options={READ_OPTIONS}
          value={given['read'] ?? ''}
          onChange={(read) => set({ read })}
        />
        <div class="form-pair">
          <TextField label="Last raised from" {...timeField('after')} />
          <TextField label="Last raised before" {...timeField('before')} />
        </div>
        <footer class="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="main">
            Show alerts
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}

/** Queues and crons by their names, or a kind of resource. */
function SubjectField({ values, onChange }: { readonly values: Values; onChange(changes: Values): void }) {
  const queues = useRead('listQueues', { limit: OFFERED_MAX }, { isLive: false })
  const crons = useRead('listCrons', { limit: OFFERED_MAX }, { isLive: false })
  const options = [
    { value: '/', label: 'Anything' },
    { value: 'team/', label: 'The team' },
    { value: 'queue/', label: 'Any queue' },
    { value: 'cron/', label: 'Any cron' },
    ...(queues.data?.queues ?? []).map((one) => ({
      value: `queue/${one.queue_id}`,
      label: `Queue ${one.name}`,
    })),
    ...(crons.data?.crons ?? []).map((one) => ({
      value: `cron/${one.id}`,
      label: `Cron ${one.name}`,
    })),
  ]
  return (
    <SelectField
      label="About"
      options={options}
      value={`${values['resource_kind'] ?? ''}/${values['resource_id'] ?? ''}`}
      onChange={(value) => {
        const [kind = '', id = ''] = value.split('/')
        onChange({ resource_kind: kind, resource_id: id })
      }}
    />
  )
}
