import type { ComponentChildren } from 'preact'
import { useEffect, useId, useState } from 'preact/hooks'
import { useModal } from './dialog.tsx'
import { Icon, type IconName } from './icon.tsx'
import './picker.css'

export interface Choice {
  readonly key: string
  readonly label: string
  /** What kind of thing it is, or its value. */
  readonly note?: ComponentChildren
  readonly icon?: IconName
  run(): void
}

/** More is found by another word. */
const SHOWN_MAX = 50

/** One of many, found by typing: a dialog over the page, which closes with Esc, with a click beside it and with a choice. */
export function Picker({
  label,
  choicesFor,
  foot,
  onClose,
}: {
  /** What is chosen, also in place of what is not typed yet. */
  readonly label: string
  /** The best first. */
  choicesFor(text: string): readonly Choice[]
  readonly foot?: ComponentChildren
  onClose(): void
}) {
  const modal = useModal(onClose)
  const id = useId()
  const [text, setText] = useState('')
  const [active, setActive] = useState<string | null>(null)
  const choices = choicesFor(text).slice(0, SHOWN_MAX)
  // By its key: what comes in meanwhile must not put another one under Enter.
  const at = Math.max(
    0,
    choices.findIndex(({ key }) => key === active),
  )
  useEffect(() => document.getElementById(`${id}-${at}`)?.scrollIntoView({ block: 'nearest' }), [at, text])
  const run = (choice: Choice | undefined): void => {
    if (choice === undefined) return
    // First, so that the focus is back before it goes elsewhere.
    modal.ref.current?.close()
    onClose()
    choice.run()
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) setActive(choices[(at + step + choices.length) % choices.length]?.key ?? null)
    else if (event.key === 'Enter' && !event.isComposing) run(choices[at])
    else return
    event.preventDefault()
  }
  return (
    <dialog
      {...modal}
      class="dialog picker"
      aria-label={label}
      onClick={({ target, currentTarget: dialog }) => {
        if (target === dialog) dialog.close()
      }}
    >
      <input
        role="combobox"
        aria-expanded="true"
        aria-controls={id}
        aria-activedescendant={choices.length === 0 ? undefined : `${id}-${at}`}
        aria-label={label}
        placeholder={label}
        autocomplete="off"
        spellcheck={false}
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value)
          setActive(null)
        }}
        onKeyDown={onKeyDown}
      />
      <ul id={id} role="listbox" aria-label={label}>
        {choices.map((choice, index) => (
          <li
            key={choice.key}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === at}
            onPointerMove={() => setActive(choice.key)}
            onClick={() => run(choice)}
          >
            {choice.icon !== undefined && <Icon name={choice.icon} />}
            <bdi>{choice.label}</bdi>
            {choice.note !== undefined && <span>{choice.note}</span>}
          </li>
        ))}
      </ul>
      <p role="status">{choices.length === 0 ? 'Nothing has these words.' : foot}</p>
    </dialog>
  )
}
