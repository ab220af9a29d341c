import type { Queue } from '../../../../../clients/typescript/src/client.ts'
import { api } from '../../../session/client.ts'
import { numbersIn, toldDelays } from '../../../format/delays.ts'
import { EditDialog } from '../../../editing/edit-dialog.tsx'
import { CheckField, SelectField, TextArea, TextField } from '../../../ui/forms/field.tsx'
import { bound, type FieldsProps } from './bound-field.ts'
import { FlowFields } from './flow-fields.tsx'
import './settings.css'
import { changesOf, differencesOf, draftOf, RECORDED } from './settings.ts'
import { Verbatim } from '../../../ui/text/verbatim.tsx'

/** What can be set of a queue. */
export function SettingsDialog({ queue, onClose }: { readonly queue: Queue; onClose(): void }) {
  const { queue_id: id, name } = queue
  return (
    <EditDialog
      title={`Settings of ${name}`}
      kind="queue"
      id={id}
      draftOf={draftOf}
      changesOf={changesOf}
      onClose={onClose}
      read={(signal) => api.send('readQueue', { queue_id: id }, { signal })}
      save={async (client, body, options) => {
        const { warnings } = await client.editQueue({ queue_id: id, body }, options)
        return ['Settings saved.', ...warnings].join(' ')
      }}
      newsOf={(before, now) =>
        differencesOf(before, now).map(({ label, before: was, after }) => (
          <>
            <strong>{label}:</strong> <del>{was}</del> → <Verbatim text={after} />
          </>
        ))
      }
      form={SettingsFields}
    />
  )
}

const EVENTS = [
  { value: 'terminal', label: 'When the chain has ended' },
  { value: 'every_attempt', label: 'After every attempt' },
] as const
const RECORDS = (['all', 'none'] as const).map((value) => ({ value, label: RECORDED[value] }))
const DAYS = (['3', '7', '14', '30'] as const).map((value) => ({ value, label: `${value} days` }))

/** All settings but the name. @param isNew there are no jobs yet that a change could be for */
export function SettingsFields({ isNew = false, ...props }: FieldsProps & { readonly isNew?: boolean }) {
  const field = bound(props)
  const { draft, onChange } = props
  return (
    <>
      <section class="settings-group">
        <h3>{isNew ? 'How fast its target is called' : 'In force at once'}</h3>
        <TextField
          label="Calls at once"
          type="number"
          placeholder="No limit"
          hint="Empty means no limit. A lower one stops no call that is in flight."
          {...field('limit', 'max_parallelism')}
        />
        <FlowFields {...props} />
      </section>
      <section class="settings-group">
        <h3>
          {isNew
            ? 'What its jobs begin with'
            : 'For new jobs only: a chain keeps the settings of its first job'}
        </h3>
        <Attempts {...props} />
        <div class="form-pair">
          <SelectField label="Callbacks" options={EVENTS} {...field('events', 'callback_events')} />
          <SelectField
            label="Dead letters are kept"
            options={DAYS}
            {...field('days', 'dlq_retention_days')}
          />
        </div>
        <SelectField
          label="Kept of responses"
          options={RECORDS}
          hint="Assertions look at the whole response all the same."
          {...field('records', 'record_responses')}
        />
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
      {draft.hasRetries && (
        <div class="form-pair">
          <TextField
            label="Delays are longer by up to, in %"
            type="number"
            hint="Each by a random part of that: 0 to 100."
            {...field('jitter', 'retry_jitter_percent')}
          />
          <TextField
            label="Statuses without a retry"
            placeholder="410"
            hint="At most 20 of 400 to 599: such an answer makes a dead letter at once."
            {...field('noRetryStatuses', 'no_retry_statuses')}
          />
        </div>
      )}
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
