import type { SuccessAssertion } from '../../../clients/typescript/src/client.ts'
import type { AssertionDraft } from '../format/assertions.ts'
import './assertions-field.css'
import { Button } from './button.tsx'
import { mistakesOf } from './field.tsx'

const TYPES: Readonly<Record<SuccessAssertion['type'], string>> = {
  status_code_equals: 'The status is',
  body_contains: 'The body contains',
  response_time_under_ms: 'It takes less than (ms)',
}
const ASSERTIONS_MAX = 10

/** Conditions that an answer must meet besides a 2xx status. */
export function AssertionsField({
  value,
  fault,
  onChange,
}: {
  readonly value: readonly AssertionDraft[]
  /** What the server said of all fields. */
  readonly fault: unknown
  onChange(value: readonly AssertionDraft[]): void
}) {
  const mistakes = mistakesOf(fault, 'success_assertions')
  const change = (at: number, next: Partial<AssertionDraft>): void =>
    onChange(value.map((one, index) => (index === at ? { ...one, ...next } : one)))
  return (
    <fieldset class="field assertions">
      <legend class="field-label">A 2xx answer is a success if also</legend>
      {value.map(({ type, value: text }, at) => (
        <div key={at} class="assertion">
          <select
            aria-label={`Condition ${at + 1}`}
            value={type}
            onChange={(event) => change(at, { type: event.currentTarget.value as AssertionDraft['type'] })}
          >
            {Object.entries(TYPES).map(([name, label]) => (
              <option key={name} value={name}>
                {label}
              </option>
            ))}
          </select>
          <input
            aria-label={`Value of condition ${at + 1}`}
            aria-invalid={mistakes.length > 0 || undefined}
            value={text}
            autocomplete="off"
            spellcheck={false}
            onInput={(event) => change(at, { value: event.currentTarget.value })}
          />
          <Button
            look="bare"
            icon="close"
            label={`Remove condition ${at + 1}`}
            onClick={() => onChange(value.filter((_, index) => index !== at))}
          />
        </div>
      ))}
      {mistakes.length > 0 && <p class="field-fault">{mistakes.join(' ')}</p>}
      {value.length < ASSERTIONS_MAX && (
        <button
          type="button"
          class="link assertions-more"
          onClick={() => onChange([...value, { type: 'status_code_equals', value: '' }])}
        >
          Add a condition
        </button>
      )}
    </fieldset>
  )
}
