import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { ApiError } from '../../../../clients/typescript/src/client.ts'
import './field.css'

/** What a 422 says about a field, and about the fields within it: `retry_delays` has the mistakes of `retry_delays.0`. */
export function mistakesOf(fault: unknown, field: string): readonly string[] {
  if (!(fault instanceof ApiError) || fault.errors === null) return []
  return Object.entries(fault.errors)
    .filter(([path]) => path === field || path.startsWith(`${field}.`))
    .flatMap(([, texts]) => texts)
}

interface FieldProps {
  readonly label: string
  /** What the value means, its unit and its default. */
  readonly hint?: ComponentChildren
  readonly mistakes?: readonly string[]
}

interface Tied {
  readonly id: string
  readonly 'aria-describedby': string | undefined
  readonly 'aria-invalid': true | undefined
}

/** The ids tie hint and mistakes to the control for screen readers. */
function Field({
  label,
  hint,
  mistakes = [],
  control,
}: FieldProps & { control(tied: Tied): ComponentChildren }) {
  const id = useId()
  const described = [hint === undefined ? '' : `${id}-hint`, mistakes.length === 0 ? '' : `${id}-fault`]
  const tied: Tied = {
    id,
    'aria-describedby': described.join(' ').trim() || undefined,
    'aria-invalid': mistakes.length > 0 ? true : undefined,
  }
  return (
    <div class="field">
      <label class="field-label" for={id}>
        {label}
      </label>
      {control(tied)}
      {hint !== undefined && (
        <p class="field-hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {mistakes.length > 0 && (
        <p class="field-fault" id={`${id}-fault`}>
          {mistakes.join(' ')}
        </p>
      )}
    </div>
  )
}

export interface TextFieldProps extends FieldProps {
  readonly value: string
  onChange(value: string): void
  readonly type?: 'text' | 'number' | 'password' | 'search' | 'datetime-local'
  readonly placeholder?: string
  readonly isMono?: boolean
  readonly isRequired?: boolean
  readonly disabled?: boolean
  /** Values that are offered. */
  readonly offered?: readonly string[]
}

export function TextField({ label, hint, mistakes, ...input }: TextFieldProps) {
  const list = useId()
  const { offered } = input
  return (
    <Field
      label={label}
      hint={hint}
      {...(mistakes !== undefined && { mistakes })}
      control={(tied) => (
        <>
          <input
            {...tied}
            class={input.isMono === true ? 'mono' : undefined}
            type={input.type ?? 'text'}
            // Whole or not is the server's to judge: the browser would not say why it sends nothing.
            step={input.type === 'number' ? 'any' : undefined}
            value={input.value}
            placeholder={input.placeholder}
            required={input.isRequired ?? false}
            disabled={input.disabled ?? false}
            list={offered === undefined ? undefined : list}
            autocomplete="off"
            spellcheck={false}
            onInput={(event) => input.onChange(event.currentTarget.value)}
          />
          {offered !== undefined && (
            <datalist id={list}>
              {offered.map((value) => (
                <option key={value} value={value} />
              ))}
            </datalist>
          )}
        </>
      )}
    />
  )
}

export function TextArea({
  label,
  hint,
  mistakes,
  value,
  onChange,
  rows = 6,
  placeholder,
}: FieldProps & {
  readonly value: string
  onChange(value: string): void
  readonly rows?: number
  readonly placeholder?: string
}) {
  return (
    <Field
      label={label}
      hint={hint}
      {...(mistakes !== undefined && { mistakes })}
      control={(tied) => (
        <textarea
          {...tied}
          class="mono"
          rows={rows}
          value={value}
          placeholder={placeholder}
          spellcheck={false}
          onInput={(event) => onChange(event.currentTarget.value)}
        />
      )}
    />
  )
}

export interface Option<Value extends string> {
  readonly value: Value
  readonly label: string
}

export function SelectField<Value extends string>({
  label,
  hint,
  mistakes,
  value,
  options,
  onChange,
}: FieldProps & {
  readonly value: Value
  readonly options: ReadonlyArray<Option<Value>>
  onChange(value: Value): void
}) {
  return (
    <Field
      label={label}
      hint={hint}
      {...(mistakes !== undefined && { mistakes })}
      control={(tied) => (
        <select {...tied} value={value} onChange={(event) => onChange(event.currentTarget.value as Value)}>
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.label}
            </option>
          ))}
        </select>
      )}
    />
  )
}

export function CheckField({
  label,
  hint,
  isChecked,
  onChange,
}: {
  readonly label: string
  readonly hint?: string
  readonly isChecked: boolean
  onChange(isChecked: boolean): void
}) {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={isChecked}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <span>
        {label}
        {hint !== undefined && <span class="field-hint">{hint}</span>}
      </span>
    </label>
  )
}
