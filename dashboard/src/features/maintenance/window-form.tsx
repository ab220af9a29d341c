import type { WindowPreview } from '../../../../clients/typescript/src/client.ts'
import { useWindowPreview } from './window-preview.ts'
import { Button } from '../../ui/button.tsx'
import type { FormProps } from '../../editing/edit-dialog.tsx'
import { mistakesOf, SelectField, TextField } from '../../ui/forms/field.tsx'
import { SubjectField } from '../../editing/subject-field.tsx'
import { useSettled } from '../../ui/forms/settled.ts'
import { TimeField } from '../../ui/forms/time-field.tsx'
import { Time, useZone } from '../../ui/text/time.tsx'
import { newSchedule, type ScheduleDraft, timesOf, type WindowDraft } from './window-draft.ts'
import './window-form.css'
import { HeldJobs } from './held-jobs.tsx'

const ACTIONS = [
  { value: 'mute', label: 'Mute: alerts are not sent' },
  { value: 'hold', label: 'Hold: no job starts either' },
] as const
const KINDS = [
  { value: 'once', label: 'Once' },
  { value: 'recurring', label: 'Again and again' },
] as const
const WHOLE = [{ value: '', label: 'The whole team' }]
const SCHEDULES_MAX = 10

interface WindowFormProps extends Omit<FormProps<WindowDraft>, 'mistakes'> {
  readonly isNew: boolean
}

/** What is set of a window, and when it would be open. */
export function WindowForm({ draft, onChange, fault, isNew }: WindowFormProps) {
  const set = (changes: Partial<WindowDraft>): void => onChange({ ...draft, ...changes })
  const settled = useSettled(JSON.stringify(timesOf(draft)))
  const preview = useWindowPreview(JSON.parse(settled) as ReturnType<typeof timesOf>)
  const mistakes = (field: string) => {
    const found = mistakesOf(preview.error, field)
    return found.length > 0 ? found : mistakesOf(fault, field)
  }
  return (
    <>
      <div class="form-pair">
        <SubjectField
          label="For"
          others={WHOLE}
          value={draft.resource}
          mistakes={mistakesOf(fault, 'resource')}
          onChange={(resource) => set({ resource })}
        />
        <SelectField
          label="What it does"
          options={ACTIONS}
          value={draft.action}
          onChange={(action) => set({ action })}
        />
      </div>
      {draft.action === 'hold' && <HeldJobs resource={draft.resource} />}
      <div class="form-pair">
        {isNew && (
          <TextField
            label="Name"
            value={draft.name}
            placeholder="saturday-night"
            hint="Lower-case letters, digits and -. Without one it is made up."
            mistakes={mistakesOf(fault, 'name')}
            onChange={(name) => set({ name })}
          />
        )}
        <TextField
          label="Reason"
          value={draft.reason}
          placeholder="The database moves."
          hint="For those who wonder."
          mistakes={mistakesOf(fault, 'reason')}
          onChange={(reason) => set({ reason })}
        />
      </div>
      <div class="form-pair">
        <SelectField
          label="It opens"
          options={KINDS}
          value={draft.isOnce ? 'once' : 'recurring'}
          onChange={(kind) => set({ isOnce: kind === 'once' })}
        />
        {draft.isOnce && <Once draft={draft} onChange={set} mistakes={mistakes} />}
      </div>
      {!draft.isOnce && <Recurring draft={draft} onChange={set} mistakes={mistakes} preview={preview.data} />}
      {preview.isSuccess && <Openings preview={preview.data} />}
    </>
  )
}

interface PartProps {
  readonly draft: WindowDraft
  onChange(changes: Partial<WindowDraft>): void
  mistakes(field: string): readonly string[]
}

function Once({ draft, onChange, mistakes }: PartProps) {
  const field = (name: 'start' | 'end') => ({
    isRequired: true,
    value: draft[name],
    mistakes: mistakes(`${name}_at`),
    onChange: (at: string) => onChange({ [name]: at }),
  })
  return (
    <>
      <TimeField label="Start" {...field('start')} />
      <TimeField label="End" {...field('end')} />
    </>
  )
}

function Recurring({
  draft: { schedules },
  onChange,
  mistakes,
  preview,
}: PartProps & { readonly preview: WindowPreview | undefined }) {
  const zone = useZone()
  const setAt = (at: number, changes: Partial<ScheduleDraft>): void =>
    onChange({ schedules: schedules.map((one, i) => (i === at ? { ...one, ...changes } : one)) })
  return (
    <div class="form">
      {schedules.map((schedule, at) => (
        <fieldset key={at} class="window-schedule">
          <TextField
            label="Cron expression"
            isMono
            isRequired
            hint={preview?.descriptions[at] ?? 'Minute, hour, day of month, month, day of week.'}
            value={schedule.cron_expression}
            mistakes={mistakes(`recurring.${at}.cron_expression`)}
            onChange={(value) => setAt(at, { cron_expression: value })}
          />
          <TextField
            label="Time zone"
            isRequired
            value={schedule.time_zone}
            mistakes={mistakes(`recurring.${at}.time_zone`)}
            onChange={(value) => setAt(at, { time_zone: value })}
          />
          <TextField
            label="For minutes"
            type="number"
            isRequired
            value={schedule.minutes}
            mistakes={mistakes(`recurring.${at}.duration_seconds`)}
            onChange={(minutes) => setAt(at, { minutes })}
          />
          {schedules.length > 1 && (
            <Button
              look="bare"
              icon="trash"
              label={`Remove schedule ${at + 1}`}
              onClick={() => onChange({ schedules: schedules.filter((_, i) => i !== at) })}
            />
          )}
        </fieldset>
      ))}
      {schedules.length < SCHEDULES_MAX && (
        <div>
          <Button icon="plus" onClick={() => onChange({ schedules: [...schedules, newSchedule(zone)] })}>
            Another schedule
          </Button>
        </div>
      )}
    </div>
  )
}

function Openings({ preview: { openings } }: { readonly preview: WindowPreview }) {
  return (
    <div class="window-preview" role="status">
      <strong>{openings.length === 0 ? 'It never opens: its end has passed' : 'Next openings'}</strong>
      <ol>
        {openings.map(({ start_at: start, end_at: end }) => (
          <li key={start}>
            <Time at={start} form="stamp" /> – <Time at={end} form="stamp" absent="with no end in sight" />{' '}
            <span class="soft">
              <Time at={start} form="relative" />
            </span>
          </li>
        ))}
      </ol>
    </div>
  )
}
