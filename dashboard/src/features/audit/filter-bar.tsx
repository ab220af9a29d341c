import type { UrlQuery } from '../../app/url-query.ts'
import { fromLocalInput, toLocalInput } from '../../format/local-input.ts'
import { useZone } from '../../ui/time.tsx'
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
    <input
      aria-label={label}
      placeholder={placeholder}
      autocomplete="off"
      spellcheck={false}
      value={values[name] ?? ''}
      // When a name is finished, not with each letter of it.
      onChange={(event) => onChange({ [name]: event.currentTarget.value.trim() })}
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
  const zone = useZone()
  const atMs = Date.parse(values[name] ?? '')
  return (
    <label class="audit-moment soft">
      {label}
      <input
        type="datetime-local"
        title={`In ${zone}`}
        value={Number.isNaN(atMs) ? '' : toLocalInput(atMs, zone)}
        onChange={(event) => onChange({ [name]: fromLocalInput(event.currentTarget.value, zone) })}
      />
    </label>
  )
}
