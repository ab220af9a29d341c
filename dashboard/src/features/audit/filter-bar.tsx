import { useState } from 'preact/hooks'
import type { UrlQuery } from '../../app/url-query.ts'
import { fromLocalInput, toLocalInput } from '../../format/local-input.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { Menu } from '../../ui/menu.tsx'
import { useZone } from '../../ui/time.tsx'
import { ACTIONS, KINDS } from './audit-filter.ts'

interface FilterProps {
  readonly values: UrlQuery['values']
  readonly onChange: UrlQuery['set']
}

const HOUR_MS = 3_600_000
const RANGES = [
  { label: 'In the last hour', hours: 1 },
  { label: 'In the last 24 hours', hours: 24 },
  { label: 'In the last 7 days', hours: 168 },
]

export function FilterBar(props: FilterProps) {
  return (
    <div class="bar audit-bar">
      <Choice name="resource_kind" label="Of" any="Of anything" options={Object.entries(KINDS)} {...props} />
      <Choice
        name="action"
        label="Action"
        any="Any action"
        options={ACTIONS.map((action) => [action, action])}
        {...props}
      />
      <Text name="actor" label="By" placeholder="By anybody" {...props} />
      <Text name="resource" label="Name or id" placeholder="Name or id" {...props} />
      <TimeMenu {...props} />
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
  readonly options: ReadonlyArray<readonly [value: string, label: string]>
}) {
  return (
    <select
      aria-label={label}
      value={values[name] ?? ''}
      onChange={(event) => onChange({ [name]: event.currentTarget.value })}
    >
      <option value="">{any}</option>
      {options.map(([value, text]) => (
        <option key={value} value={value}>
          {text}
        </option>
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

function TimeMenu({ values, onChange }: FilterProps) {
  const [isOpen, setIsOpen] = useState(false)
  const isAny = values['after'] === undefined && values['before'] === undefined
  return (
    <>
      <Menu
        label="Time"
        items={[
          ...RANGES.map(({ label, hours }) => ({
            label,
            run: () =>
              onChange({ after: new Date(Date.now() - hours * HOUR_MS).toISOString(), before: null }),
          })),
          { label: 'Since or until …', run: () => setIsOpen(true) },
          { label: 'At any time', run: () => onChange({ after: null, before: null }) },
        ]}
      >
        {isAny ? 'At any time' : 'Since …'}
      </Menu>
      {isOpen && <Span values={values} onChange={onChange} onClose={() => setIsOpen(false)} />}
    </>
  )
}

function Span({ values, onChange, onClose }: FilterProps & { onClose(): void }) {
  const zone = useZone()
  const localOf = (value: string | undefined): string => {
    const atMs = Date.parse(value ?? '')
    return Number.isNaN(atMs) ? '' : toLocalInput(atMs, zone)
  }
  const [after, setAfter] = useState(() => localOf(values['after']))
  const [before, setBefore] = useState(() => localOf(values['before']))
  return (
    <Dialog title="Changes of a time" onClose={onClose}>
      <form
        class="dialog-form"
        onSubmit={(event) => {
          event.preventDefault()
          onChange({ after: fromLocalInput(after, zone), before: fromLocalInput(before, zone) })
          onClose()
        }}
      >
        <TextField label="Since" type="datetime-local" value={after} onChange={setAfter} />
        <TextField
          label="Before"
          hint={`In ${zone}.`}
          type="datetime-local"
          value={before}
          onChange={setBefore}
        />
        <footer class="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="main">
            Show changes
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}
