import { useCronPreview } from '../times/cron-preview.ts'
import { useQueueNames } from '../../../api/reads.ts'
import type { FormProps } from '../../../editing/edit-dialog.tsx'
import { mistakesOf, SelectField, TextArea, TextField } from '../../../ui/forms/field.tsx'
import { useSettled } from '../../../ui/forms/settled.ts'
import { NextRuns, SPARE } from '../times/next-runs.tsx'
import type { CronDraft, CronField } from './cron-draft.ts'
import { CRON_TEXTS } from './cron-fields.ts'
import './cron-form.css'

export interface CronFormProps extends FormProps<CronDraft> {
  /** URL, headers and payload are not shown to this viewer: they stay as they are. */
  readonly isMasked: boolean
}

const TIMES_SHOWN = 4

/** All settings of a cron. */
export function CronForm(props: CronFormProps) {
  const { draft, isMasked } = props
  const schedule = useSchedule(draft)
  const queues = useQueueNames()
  const field = (name: CronField, given: Partial<ControlProps> = {}) => (
    <Control key={name} {...props} name={name} {...given} />
  )
  // What is wrong with the schedule is known before it is sent.
  const early = { fault: schedule.fault ?? props.fault }
  return (
    <>
      {field('name')}
      <div class="form-pair">
        {field('cron_expression', early)}
        {field('time_zone', { ...early, offered: Intl.supportedValuesOf('timeZone') })}
      </div>
      {schedule.description !== undefined && (
        <div class="cron-preview" aria-live="polite">
          <strong>{schedule.description}</strong>
          <NextRuns schedule={schedule} count={TIMES_SHOWN} />
        </div>
      )}
      <div class="form-target">
        {field('method')}
        {field('url')}
      </div>
      {isMasked ? (
        <p class="soft">URL, headers and payload stay as they are: you may not see payloads.</p>
      ) : (
        [field('payload'), field('headers')]
      )}
      <div class="form-pair">
        {field('queue', { offered: queues })}
        {MORE.map((name) => field(name))}
      </div>
      {field('success_assertions')}
    </>
  )
}

const MORE = [
  'concurrency_policy',
  'missed_run_policy',
  'starting_deadline_seconds',
  'jitter_seconds',
  'timeout_seconds',
  'alert_threshold',
  'record_responses',
  'callback_url',
] as readonly CronField[]

interface ControlProps extends CronFormProps {
  readonly name: CronField
  readonly offered?: readonly string[]
}

function Control({ name, draft, onChange, mistakes, fault, isMasked, offered }: ControlProps) {
  const { options, rows, isNumber = false, ...texts } = CRON_TEXTS[name]
  const own = mistakes[name]
  const common = {
    ...texts,
    value: draft[name],
    onChange: (value: string) => onChange({ ...draft, [name]: value }),
    mistakes: own === undefined ? mistakesOf(fault, name) : [own],
  }
  if (options !== undefined) return <SelectField {...common} options={options} />
  if (rows !== undefined) return <TextArea {...common} rows={rows} />
  return (
    <TextField
      {...common}
      type={isNumber ? 'number' : 'text'}
      disabled={isMasked && name === 'url'}
      {...(offered !== undefined && { offered })}
    />
  )
}

/** What the schedule means as it is typed, or what is wrong with it. */
function useSchedule(draft: CronDraft) {
  const cron_expression = useSettled(draft.cron_expression.trim())
  const time_zone = useSettled(draft.time_zone.trim())
  const isTyped = cron_expression !== '' && time_zone !== ''
  // Asks for the same as the table below, so that both share one request.
  const count = TIMES_SHOWN + SPARE
  const preview = useCronPreview(isTyped ? { cron_expression, time_zone, count } : null)
  return {
    cron_expression,
    time_zone,
    description: isTyped ? preview.data?.description : undefined,
    fault: isTyped ? preview.error : null,
  }
}
