import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import { useQueueNames } from '../../../api/reads.ts'
import { numbersIn, toldDelays } from '../../../format/delays.ts'
import { formatSeconds } from '../../../format/times.ts'
import { mistakesOf, SelectField, TextArea, TextField } from '../../../ui/forms/field.tsx'
import { TimeField } from '../../../ui/forms/time-field.tsx'
import type { FieldName, JobDraft, Mistakes } from './job-draft.ts'

export interface JobFormProps {
  readonly draft: JobDraft
  onChange(draft: JobDraft): void
  /** A replay stays in its queue and is due at once. */
  readonly kind: 'push' | 'duplicate' | 'replay'
  /** What was found before it was sent. */
  readonly mistakes: Mistakes
  /** What the server said. */
  readonly fault: unknown
  /** Headers and payload are not shown to this viewer: they stay as they are. */
  readonly isMasked?: boolean
  /** The hint below the field for the URL. */
  readonly urlHint?: ComponentChildren
}

const METHODS = (['POST', 'GET', 'PUT', 'PATCH', 'DELETE'] as const).map((value) => ({ value, label: value }))
const BODY_KINDS = [
  { value: 'payload', label: 'A JSON object' },
  { value: 'json', label: 'Another JSON value' },
  { value: 'text', label: 'Text' },
  { value: 'base64', label: 'Bytes in base64' },
] as const
const BODY_HINTS = {
  payload: 'Sent exactly as written.',
  json: 'Sent exactly as written.',
  text: 'Sent as text/plain, unless a header Content-Type says otherwise.',
  base64: 'The bytes are sent as application/octet-stream, unless a header Content-Type says otherwise.',
} as const satisfies Record<JobDraft['bodyKind'], string>
const STARTS = [
  { value: 'now', label: 'At once' },
  { value: 'delay', label: 'After a delay' },
  { value: 'at', label: 'At a time' },
] as const
const EVENTS = [
  { value: '', label: 'As the queue says' },
  { value: 'terminal', label: 'When the chain has ended' },
  { value: 'every_attempt', label: 'After every attempt' },
] as const

/** The texts of a draft by their keys, and where their mistakes are. */
type Bound = ReturnType<typeof bound>

function bound({ draft, onChange, mistakes, fault }: JobFormProps) {
  return <Key extends keyof JobDraft>(key: Key, ...names: readonly FieldName[]) => ({
    value: draft[key],
    onChange: (value: JobDraft[Key]) => onChange({ ...draft, [key]: value }),
    mistakes: names.flatMap((name) => {
      const own = mistakes[name]
      return own === undefined ? mistakesOf(fault, name) : [own]
    }),
  })
}

/** All fields of a push. */
export function JobForm(props: JobFormProps) {
  const { kind, isMasked = false } = props
  const field = bound(props)
  return (
    <>
      {kind !== 'replay' && <QueueField field={field} />}
      <div class="form-target">
        <SelectField label="Method" options={METHODS} {...field('method', 'method')} />
        <TextField
          label="URL"
          placeholder="https://api.example.com/hooks"
          isMono
          isRequired
          disabled={isMasked}
          hint={isMasked ? 'It stays as it is: another target would get to see the payload.' : props.urlHint}
          {...field('url', 'url')}
        />
      </div>
      {isMasked ? (
        <p class="soft">Headers and payload are hidden from you. They are sent as they are.</p>
      ) : (
        <>
          <Body draft={props.draft} field={field} />
          <TextArea
            label="Headers"
            rows={2}
            placeholder="X-Order: 1042"
            hint="One a line, as name: value."
            {...field('headers', 'headers')}
          />
        </>
      )}
      {kind !== 'replay' && <Start {...props} field={field} />}
      <Retries {...props} field={field} />
      <Extras field={field} />
    </>
  )
}

function QueueField({ field }: { readonly field: Bound }) {
  return (
    <TextField
      label="Queue"
      isRequired
      placeholder="emails"
      hint="It is made if it does not exist."
      offered={useQueueNames()}
      {...field('queue', 'queue')}
    />
  )
}

function Body({ draft, field }: { readonly draft: JobDraft; readonly field: Bound }) {
  return (
    <>
      <TextArea
        label="Body"
        rows={7}
        placeholder={draft.bodyKind === 'payload' ? '{\n  "order": 1042\n}' : ''}
        hint={BODY_HINTS[draft.bodyKind]}
        {...field('payload', 'payload', 'body')}
      />
      <SelectField label="Body is" options={BODY_KINDS} {...field('bodyKind', 'body_encoding')} />
    </>
  )
}

function Start({ draft, onChange, field }: JobFormProps & { readonly field: Bound }) {
  return (
    <div class="form-pair">
      <SelectField label="Start" options={STARTS} {...field('start')} />
      {draft.start === 'delay' && (
        <TextField
          label="Delay in seconds"
          type="number"
          isRequired
          hint={`At most a day. ${toldSeconds(draft.delay)}`}
          {...field('delay', 'delay')}
        />
      )}
      {draft.start === 'at' && (
        <TimeField
          label="Time"
          isRequired
          hint="A time in the past means at once."
          mistakes={field('runAt', 'run_at').mistakes}
          value={draft.runAt}
          onChange={(runAt) => onChange({ ...draft, runAt })}
        />
      )}
    </div>
  )
}

function Retries({ draft, field }: JobFormProps & { readonly field: Bound }) {
  const options = [
    // Where they are not known, they cannot be told from the queue's.
    draft.retries === 'kept'
      ? { value: 'kept' as const, label: 'As the job has them' }
      : { value: 'queue' as const, label: 'Those of the queue' },
    { value: 'own' as const, label: 'Delays of its own' },
    { value: 'off' as const, label: 'None' },
  ]
  const delays = numbersIn(draft.retryDelays)
  return (
    <div class="form-pair">
      <SelectField label="Retries" options={options} {...field('retries', 'retries_enabled')} />
      {draft.retries === 'own' && (
        <TextField
          label="Delays in seconds"
          isRequired
          placeholder="60, 1800, 10800"
          hint={delays.length === 0 ? 'One for each retry, at most 10.' : toldDelays(delays)}
          {...field('retryDelays', 'retry_delays')}
        />
      )}
      <TextField
        label="Timeout in seconds"
        type="number"
        placeholder="As the queue says"
        hint="Of one call, from DNS to the last byte: 1 to 300."
        {...field('timeout', 'timeout_seconds')}
      />
    </div>
  )
}

function Extras({ field }: { readonly field: Bound }) {
  const tags = field('tags', 'tags')
  const url = field('callbackUrl', 'callback_url')
  const events = field('callbackEvents', 'callback_events')
  const isUsed = [tags, url, events].some(({ value, mistakes }) => value !== '' || mistakes.length > 0)
  // It does not fold when the last letter is taken out.
  const wasUsed = useRef(false)
  wasUsed.current ||= isUsed
  return (
    <details class="form-more" open={wasUsed.current}>
      <summary>Tags and callback</summary>
      <div class="form">
        <TextArea
          label="Tags"
          rows={2}
          placeholder="tenant: acme"
          hint="For your use, one a line, at most 8. Jobs can be found by them."
          {...tags}
        />
        <div class="form-pair">
          <TextField label="Callback URL" isMono hint="Gets a POST about the end of the chain." {...url} />
          <SelectField label="Callback" options={EVENTS} {...events} />
        </div>
      </div>
    </details>
  )
}

function toldSeconds(text: string): string {
  return /^\d+$/.test(text.trim()) ? `That is ${formatSeconds(Number(text))}.` : ''
}
