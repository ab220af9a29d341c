import type { UrlQuery } from '../../routing/url-query.ts'
import { LateInput } from '../../ui/forms/late-input.tsx'
import { useMoment } from '../../ui/forms/time-field.tsx'
import { KINDS } from './audit-filter.ts'
import { ACTIONS } from './sentence.ts'

interface FilterProps {
  readonly values: UrlQuery['values']
  readonly onChange: UrlQuery['set']
}

export function FilterBar(props: FilterProps) {
  return (
    <div class="bar audit-bar">
      <Choice name="resource_kind" label="Of" any="Of anything" options={KINDS} {...props} />
      <Choice name="action" label="Action" any="Any action" options={ACTIONS} {...props} />
      <Text name="actor" label="By" placeholder="By anybody" {...props} />
      <Text name="resource" label="Name or id" placeholder="Name or id" {...props} />
      <Moment name="after" label="Since" {...props} />
      <Moment name="before" label="Before" {...props} />
    </div>
  )
}

function Choice({
  name,
  label,
  any,
  options,
  values,
  onChange,
}: FilterProps & {
  readonly name: string
  readonly label: string
  readonly any: string
  readonly options: readonly string[]
}) {
  return (
    <select
      aria-label={label}
      value={values[name] ?? ''}
      onChange={(event) => onChange({ [name]: event.currentTarget.value })}
    >
      <option value="">{any}</option>
      {options.map((option) => (
        <option key={option}>{option}</option>
      ))}
    </select>
  )
}

function Text({
  name,
  label,
  placeholder,
  values,
  onChange,
}: FilterProps & { readonly name: string; readonly label: string; readonly placeholder: string }) {
  return (
    <LateInput
      label={label}
      placeholder={placeholder}
      value={values[name] ?? ''}
      onChange={(text) => onChange({ [name]: text })}
    />
  )
}

/** A moment in the zone of the page. */
function Moment({
  name,
  label,
  values,
  onChange,
}: FilterProps & { readonly name: string; readonly label: string }) {
  const { zone, ...moment } = useMoment(values[name] ?? '', (at) => onChange({ [name]: at }))
  return (
    <label class="audit-moment soft">
      {label}
      <input
        type="datetime-local"
        title={`In ${zone}`}
        value={moment.value}
        onInput={(event) => moment.onChange(event.currentTarget.value)}
      />
    </label>
  )
}
