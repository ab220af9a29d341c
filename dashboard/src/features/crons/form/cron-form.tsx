import type { ComponentChildren } from 'preact'
import { useCronPreview } from '../../../api/cron-preview.ts'
import { useRead } from '../../../api/reads.ts'
import { mistakesOf, SelectField, TextArea, TextField } from '../../../ui/field.tsx'
import { useSettled } from '../../../ui/settled.ts'
import type { CronDraft, CronField, ReadDraft } from './cron-draft.ts'
import './cron-form.css'
import { NextRuns } from '../times/next-runs.tsx'

export interface CronFormProps {
  readonly draft: CronDraft
  onChange(draft: CronDraft): void
  readonly mistakes: ReadDraft['mistakes']
  /** What the server said. */
  readonly fault: unknown
  /** URL, headers and payload are not shown to this viewer: they stay as they are. */
  readonly isMasked: boolean
}

const METHODS = (['POST', 'GET', 'PUT', 'PATCH', 'DELETE'] as const).map((value) => ({ value, label: value }))
const OVERLAPS = [
  { value: 'allow', label: 'Start others' },
  { value: 'forbid', label: 'Skip ticks' },
]
const MISSED = [
  { value: 'latest', label: 'Run the last one late' },
  { value: 'all', label: 'Run all late, at most 100' },
  { value: 'skip', label: 'Do not run them' },
]
const EXPRESSIONS = ['*/5 * * * *', '0 * * * *', '0 3 * * *', '0 9 * * MON-FRI', '0 0 1 * *']
const ZONES = ['UTC', ...Intl.supportedValuesOf('timeZone')]
const QUEUES_OFFERED_MAX = 1_000
const TIMES_SHOWN = 4

/** A text by its key, and its mistakes. */
type Bind = (name: CronField) => {
  readonly value: string
  onChange(value: string): void
  readonly mistakes: readonly string[]
}

/** All settings of a cron. */
export function CronForm({ draft, onChange, mistakes, fault, isMasked }: CronFormProps) {
  const field: Bind = (name) => {
    const own = mistakes[name]
    return {
      value: draft[name],
      onChange: (value) => onChange({ ...draft, [name]: value }),
      mistakes: own === undefined ? mistakesOf(fault, name) : [own],
    }
  }
  return (
    <>
      <TextField label="Name" isRequired placeholder="Nightly report" {...field('name')} />
      <Schedule draft={draft} field={field} />
      <div class="form-target">
        <SelectField label="Method" options={METHODS} {...field('method')} />
        <TextField
          label="URL"
          placeholder="https://api.example.com/hooks/report"
          isMono
          isRequired
          disabled={isMasked}
          hint={isMasked ? 'It stays as it is: another target would get to see the payload.' : undefined}
          {...field('url')}
        />
      </div>
      {isMasked ? (
        <p class="soft">Headers and payload are hidden from you. They stay as they are.</p>
      ) : (
        <>
          <TextArea
            label="Payload"
            rows={4}
            hint="The body of each request, sent exactly as written."
            {...field('payload')}
          />
          <TextArea
            label="Headers"
            rows={2}
            placeholder="X-Report: nightly"
            hint="One a line, as name: value."
            {...field('headers')}
          />
        </>
      )}
      <Runs field={field} />
      <Ends field={field} />
    </>
  )
}

/** When it ticks, with what that means while it is typed. */
function Schedule({ draft, field }: { readonly draft: CronDraft; readonly field: Bind }) {
  const expression = useSettled(draft.cron_expression.trim())
  const zone = useSettled(draft.time_zone.trim())
  const isTyped = expression !== '' && zone !== ''
  const preview = useCronPreview(isTyped ? { cron_expression: expression, time_zone: zone, count: 6 } : null)
  const own = (name: CronField): ReturnType<Bind> => {
    const bound = field(name)
    const found = isTyped ? mistakesOf(preview.error, name) : []
    return { ...bound, mistakes: found.length > 0 ? found : bound.mistakes }
  }
  return (
    <>
      <div class="form-pair">
        <TextField
          label="Cron expression"
          isMono
          isRequired
          placeholder="0 3 * * *"
          hint="Minute, hour, day of month, month, day of week."
          offered={EXPRESSIONS}
          {...own('cron_expression')}
        />
        <TextField
          label="Time zone"
          isRequired
          hint="An IANA name, such as Europe/Berlin."
          offered={ZONES}
          {...own('time_zone')}
        />
      </div>
      {isTyped && preview.isSuccess && (
        <div class="cron-preview" aria-live="polite">
          <strong>{preview.data.description}</strong>
          <NextRuns schedule={{ cron_expression: expression, time_zone: zone }} count={TIMES_SHOWN} />
        </div>
      )}
    </>
  )
}

function Runs({ field }: { readonly field: Bind }) {
  const queues = useRead('listQueues', { limit: QUEUES_OFFERED_MAX }, { isLive: false })
  return (
    <Group title="How it runs">
      <TextField
        label="Queue"
        placeholder="None"
        hint="With its parallelism, retries and dead letters. Without one the next tick is the retry."
        offered={(queues.data?.queues ?? []).map(({ name }) => name)}
        {...field('queue')}
      />
      <SelectField label="While a run has not ended" options={OVERLAPS} {...field('concurrency_policy')} />
      <SelectField label="Ticks missed while nothing ran" options={MISSED} {...field('missed_run_policy')} />
      <TextField
        label="Starts at the latest after, in seconds"
        type="number"
        placeholder="Never too late"
        hint="1 to 86,400. A tick that is later is missed for good."
        {...field('starting_deadline_seconds')}
      />
      <TextField
        label="Jitter in seconds"
        type="number"
        isRequired
        hint="0 to 3,600. Runs start up to this much later, always the same for one cron."
        {...field('jitter_seconds')}
      />
      <TextField
        label="Timeout in seconds"
        type="number"
        isRequired
        hint="Of one call: 1 to 300."
        {...field('timeout_seconds')}
      />
    </Group>
  )
}

const ALERTS = ['1', '2', '3'].map((value) => ({ value, label: `${value} in a row` }))

function Ends({ field }: { readonly field: Bind }) {
  return (
    <Group title="When a run has ended">
      <SelectField label="Failure alert after" options={ALERTS} {...field('alert_threshold')} />
      <TextField label="Callback URL" isMono hint="Gets a POST about each end." {...field('callback_url')} />
      <TextArea
        label="Success assertions"
        rows={2}
        placeholder={'status_code_equals: 200\nbody_contains: ok\nresponse_time_under_ms: 500'}
        hint="One a line. All must pass, besides a 2xx status."
        {...field('success_assertions')}
      />
    </Group>
  )
}

/** Settings that usually stay as they are. */
function Group({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <details class="form-more" open>
      <summary>{title}</summary>
      <div class="form form-pair">{children}</div>
    </details>
  )
}
