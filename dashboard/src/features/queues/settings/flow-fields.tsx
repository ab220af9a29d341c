import { CheckField, TextField } from '../../../ui/forms/field.tsx'
import { bound, type FieldsProps } from './bound-field.ts'
import { toldBreaker, toldRate } from './flow-text.ts'
import { breakerIn, rateIn } from './settings.ts'

/** How fast the target may be called, and when it is left alone. */
export function FlowFields(props: FieldsProps) {
  const { draft, onChange } = props
  return (
    <>
      <Rate {...props} />
      <CheckField
        label="Wait as long as the target asks"
        hint="An answer 429 or 503 with Retry-After, of a day at most: no job begins before that time, and then one tries."
        isChecked={draft.respectsRetryAfter}
        onChange={(respectsRetryAfter) => onChange({ ...draft, respectsRetryAfter })}
      />
      <CheckField
        label="Stop calling a target that fails (circuit breaker)"
        hint={
          draft.hasBreaker
            ? breakerHint(props)
            : 'For a while, when too many calls fail; then one job tries it.'
        }
        isChecked={draft.hasBreaker}
        onChange={(hasBreaker) => onChange({ ...draft, hasBreaker })}
      />
      {draft.hasBreaker && <Breaker {...props} />}
    </>
  )
}

function Rate(props: FieldsProps) {
  const field = bound(props)
  const rate = rateIn(props.draft)
  return (
    <div class="form-pair">
      <TextField
        label="Rate limit"
        type="number"
        placeholder="No limit"
        hint={
          rate === null
            ? 'Calls that may begin. Empty means no limit.'
            : isTold(rate)
              ? `${toldRate(rate)}. Retries and replays count.`
              : 'A whole number from 1 to 1,000,000.'
        }
        {...field('rate', 'rate_limit.limit')}
      />
      {rate !== null && (
        <TextField
          label="Period, in seconds"
          type="number"
          hint="Whatever the span: 1 to 86,400, a day."
          {...field('ratePeriod', 'rate_limit.period_seconds')}
        />
      )}
    </div>
  )
}

function Breaker(props: FieldsProps) {
  const field = bound(props)
  return (
    <>
      <div class="form-pair">
        <TextField
          label="Failures in %"
          type="number"
          hint="Timeout, no connection, DNS, TLS or 5xx."
          {...field('failurePercent', 'circuit_breaker.failure_percent')}
        />
        <TextField
          label="Calls needed to judge"
          type="number"
          hint="1 to 10,000."
          {...field('minCalls', 'circuit_breaker.min_calls')}
        />
      </div>
      <div class="form-pair">
        <TextField
          label="Window, in seconds"
          type="number"
          hint="1 to 3,600."
          {...field('windowSeconds', 'circuit_breaker.window_seconds')}
        />
        <TextField
          label="Open for, in seconds"
          type="number"
          hint="1 to 900; twice as long each time that the job which tries fails, 15 min at most."
          {...field('openSeconds', 'circuit_breaker.open_seconds')}
        />
      </div>
    </>
  )
}

function breakerHint({ draft }: FieldsProps): string {
  const breaker = breakerIn(draft)
  return breaker !== null && isTold(breaker) ? `${toldBreaker(breaker)}.` : 'Each takes a whole number.'
}

/** Whether there is a sentence for it. What the numbers may be is the server's to judge. */
function isTold<Name extends string>(
  given: Readonly<Record<Name, number | string>>,
): given is Readonly<Record<Name, number>> {
  return Object.values(given).every((one) => typeof one === 'number' && one > 0)
}
