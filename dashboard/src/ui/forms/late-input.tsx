import { useState } from 'preact/hooks'

/** A text that counts when it is finished, not with each letter. What is half typed stays, whatever is read meanwhile. */
export function LateInput({
  label,
  placeholder,
  value,
  list,
  onChange,
}: {
  readonly label: string
  readonly placeholder: string
  readonly value: string
  /** The id of what is offered. */
  readonly list?: string
  onChange(value: string): void
}) {
  const [typed, setTyped] = useState<string | null>(null)
  return (
    <input
      aria-label={label}
      placeholder={placeholder}
      list={list}
      autocomplete="off"
      spellcheck={false}
      value={typed ?? value}
      onInput={(event) => setTyped(event.currentTarget.value)}
      onChange={(event) => onChange(event.currentTarget.value.trim())}
      onBlur={() => setTyped(null)}
    />
  )
}
