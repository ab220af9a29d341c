import './chips.css'
import { TextButton } from '../button.tsx'
import { Icon } from '../icon.tsx'
import { visible } from '../../format/visible.ts'
import { Verbatim } from '../text/verbatim.tsx'

export interface Chip {
  /** The name of the filter in the URL. */
  readonly name: string
  readonly label: string
  readonly value: string
}

/** The filters in force, each with a button that takes it away; those of something past have none. */
export function Chips({
  chips,
  onRemove,
  onClear,
}: {
  readonly chips: readonly Chip[]
  onRemove?(name: string): void
  onClear?(): void
}) {
  if (chips.length === 0) return null
  return (
    <ul class="chips" aria-label="Filters">
      {chips.map(({ name, label, value }) => (
        <li key={name} class="chip" data-fixed={onRemove === undefined}>
          <span class="soft">{label}</span>
          <span class="chip-value" title={visible(value)}>
            <Verbatim text={value} />
          </span>
          {onRemove !== undefined && (
            <button type="button" aria-label={`Remove the filter ${label}`} onClick={() => onRemove(name)}>
              <Icon name="close" size={12} />
            </button>
          )}
        </li>
      ))}
      {onClear !== undefined && (
        <li>
          <TextButton onClick={onClear}>Clear</TextButton>
        </li>
      )}
    </ul>
  )
}
