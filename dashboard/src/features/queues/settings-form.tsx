import { useEffect, useRef, useState } from 'preact/hooks'
import { ApiError, type Queue } from '../../../../clients/typescript/src/client.ts'
import { useChange } from '../../api/changes.ts'
import { api } from '../../api/client.ts'
import { faultText } from '../../api/faults.ts'
import { numbersIn, toldDelays } from '../../format/delays.ts'
import { plural } from '../../format/numbers.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { CheckField, mistakesOf, SelectField, TextArea, TextField } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import './settings.css'
import {
  type Difference,
  differencesOf,
  draftOf,
  editOf,
  rebased,
  SETTINGS,
  type SettingsDraft,
} from './settings.ts'

/** Settings with their version, which an edit names so as not to undo what others have done since. */
export interface Versioned {
  readonly queue: Queue
  readonly version: string
}

export async function readVersioned(queueId: number): Promise<Versioned> {
  const { body, headers } = await api.send('readQueue', { queue_id: queueId })
  // A proxy that compresses makes the tag weak, and a weak one never matches.
  return { queue: body, version: (headers.get('etag') ?? '*').replace(/^W\//, '') }
}

/** @param from what the form begins with */
export function SettingsForm({ from, onClose }: { readonly from: Versioned; onClose(): void }) {
  const [begun, setBegun] = useState(from)
  const [draft, setDraft] = useState(() => draftOf(from.queue))
  const [meanwhile, setMeanwhile] = useState<readonly Difference[]>([])
  const edit = editOf(draft, draftOf(begun.queue))
  const changed = SETTINGS.filter(({ names }) => names.some((name) => name in edit))
  const look = async (): Promise<void> => {
    const now = await readVersioned(begun.queue.queue_id)
    setMeanwhile(differencesOf(begun.queue, now.queue))
    setDraft(rebased(draft, draftOf(begun.queue), draftOf(now.queue)))
    setBegun(now)
  }
  const save = useChange(
    (client) => client.editQueue({ queue_id: begun.queue.queue_id, body: edit }, ifMatch(begun)),
    {
      said: ({ warnings }) => ['Settings saved.', ...warnings].join(' '),
      onDone: onClose,
      isFaultShown: true,
      onFault: (fault) => {
        if (isConflict(fault)) void look()
      },
    },
  )
  const { error } = save
  const onSave = (): void => {
    setMeanwhile([])
    save.mutate(undefined)
  }
  return (
    <Dialog title={`Settings of ${begun.queue.name}`} size="large" onClose={onClose}>
      <form
        class="dialog-form"
        onSubmit={(event) => {
          event.preventDefault()
          if (changed.length > 0) onSave()
        }}
      >
        {meanwhile.length > 0 && <Meanwhile key={begun.version} differences={meanwhile} />}
        <Fields draft={draft} fault={error} onChange={setDraft} />
        {error !== null && !isConflict(error) && (
          <p class="field-fault" role="alert">
            {error instanceof ApiError && error.errors !== null
              ? 'Some fields need another value.'
              : faultText(error)}
          </p>
        )}
        <footer class="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="main" isBusy={save.isPending} disabled={changed.length === 0}>
            {changed.length === 0 ? 'Nothing changed' : `Save ${plural(changed.length, 'setting')}`}
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}

function ifMatch({ version }: Versioned): { readonly headers: Readonly<Record<string, string>> } {
  return { headers: { 'if-match': version } }
}

/** A refusal of others than us, such as the Kubernetes API, names no version. */
function isConflict(fault: unknown): boolean {
  return fault instanceof ApiError && fault.status === 409 && fault.text.includes('"version"')
}

function Meanwhile({ differences }: { readonly differences: readonly Difference[] }) {
  const element = useRef<HTMLDivElement>(null)
  // The button that was pressed may be far below.
  useEffect(() => element.current?.scrollIntoView({ block: 'end' }), [])
  return (
    <div ref={element} role="alert">
      <Notice icon="warning" tone="warn">
        Nothing is saved yet: somebody has changed the settings since you opened them. What you have not
        touched is shown as it is now; look again, and save.
        {differences.map(({ label, before, after }) => (
          <span key={label} class="settings-change">
            <strong>{label}:</strong> <del>{before}</del> → <bdi>{after}</bdi>
          </span>
        ))}
      </Notice>
    </div>
  )
}

const EVENTS = [
  { value: 'terminal', label: 'When the chain has ended' },
  { value: 'every_attempt', label: 'After every attempt' },
] as const
const DAYS = (['3', '7', '14', '30'] as const).map((value) => ({ value, label: `${value} days` }))

interface FieldsProps {
  readonly draft: SettingsDraft
  readonly fault: unknown
  onChange(draft: SettingsDraft): void
}

/** A value of the draft by its key, with what the server says of it. */
function bound({ draft, fault, onChange }: FieldsProps) {
  return <Key extends keyof SettingsDraft>(key: Key, name: string) => ({
    value: draft[key],
    mistakes: mistakesOf(fault, name),
    onChange: (value: SettingsDraft[Key]) => onChange({ ...draft, [key]: value }),
  })
}

function Fields(props: FieldsProps) {
  const field = bound(props)
  const { draft, onChange } = props
  return (
    <>
      <section class="settings-group">
        <h3>In force at once</h3>
        <TextField
          label="Calls at once"
          type="number"
          placeholder="No limit"
          hint="Empty means no limit. A lower one stops no call that is in flight."
          {...field('limit', 'max_parallelism')}
        />
      </section>
      <section class="settings-group">
        <h3>For new jobs only: a chain keeps the settings of its first job</h3>
        <Attempts {...props} />
        <div class="form-pair">
          <SelectField label="Callbacks" options={EVENTS} {...field('events', 'callback_events')} />
          <SelectField
            label="Dead letters are kept"
            options={DAYS}
            {...field('days', 'dlq_retention_days')}
          />
        </div>
        <CheckField
          label="Raise alerts when jobs fail"
          hint="Those about limits that are near begin or end at once."
          isChecked={draft.hasAlerts}
          onChange={(hasAlerts) => onChange({ ...draft, hasAlerts })}
        />
      </section>
    </>
  )
}

function Attempts(props: FieldsProps) {
  const field = bound(props)
  const { draft, onChange } = props
  const delays = numbersIn(draft.delays)
  return (
    <>
      <CheckField
        label="Retry jobs that fail"
        isChecked={draft.hasRetries}
        onChange={(hasRetries) => onChange({ ...draft, hasRetries })}
      />
      <div class="form-pair">
        {draft.hasRetries && (
          <TextField
            label="Delays in seconds"
            hint={delays.length === 0 ? 'One for each retry, at most 10.' : toldDelays(delays)}
            {...field('delays', 'retry_delays')}
          />
        )}
        <TextField
          label="Timeout in seconds"
          type="number"
          hint="Of one call, from DNS to the last byte: 1 to 300."
          {...field('timeout', 'timeout_seconds')}
        />
      </div>
      <TextArea
        label="Success assertions"
        rows={2}
        placeholder={'status_code_equals: 200\nbody_contains: ok\nresponse_time_under_ms: 500'}
        hint="One a line. All must pass, besides a 2xx status."
        {...field('assertions', 'success_assertions')}
      />
    </>
  )
}
