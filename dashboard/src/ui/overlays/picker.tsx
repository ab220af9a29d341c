import type { ComponentChildren } from 'preact'
import { useEffect, useId, useState } from 'preact/hooks'
import { useModal } from './dialog.tsx'
import { Icon, type IconName } from '../icon.tsx'
import './picker.css'
import { visible } from '../../format/visible.ts'

export interface Choice {
  readonly key: string
  readonly label: string
  /** What kind of thing it is, or its value. */
  readonly note?: ComponentChildren
  readonly icon?: IconName
  /** Other words by which it is found. */
  readonly words?: string
  run(): void
}

/** More is found by another word. */
const SHOWN_MAX = 50

export interface PickerProps {
  /** What is chosen; also the placeholder of the field. */
  readonly label: string
  /** The best first. */
  choicesFor(text: string): readonly Choice[]
  readonly foot?: ComponentChildren
  onClose(): void
}

/** A dialog in which the user types to find one of many. It closes on Esc, on a click outside and on a choice. */
export function Picker({ label, choicesFor, foot, onClose }: PickerProps) {
  const modal = useModal(onClose)
  const id = useId()
  const [text, setText] = useState('')
  const choices = choicesFor(text).slice(0, SHOWN_MAX)
  const run = (choice: Choice | undefined): void => {
    if (choice === undefined) return
    // First, so that the focus is back before it goes elsewhere.
    modal.ref.current?.close()
    onClose()
    choice.run()
  }
  const { at, setActive, onKeyDown } = useActive(choices, run)
  useEffect(() => document.getElementById(`${id}-${at}`)?.scrollIntoView({ block: 'nearest' }), [at, text])
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
            <Content choice={choice} />
          </li>
        ))}
      </ul>
      <p role="status">{choices.length === 0 ? 'Nothing matches.' : foot}</p>
    </dialog>
  )
}

/** The choice that Enter takes, and the keys that move it. */
function useActive(choices: readonly Choice[], run: (choice: Choice | undefined) => void) {
  const [active, setActive] = useState<string | null>(null)
  // By its key: what comes in meanwhile must not put another one under Enter.
  const found = choices.findIndex(({ key }) => key === active)
  const at = Math.max(0, found)
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) setActive(choices[(at + step + choices.length) % choices.length]?.key ?? null)
    else if (event.key === 'Enter' && !event.isComposing) run(choices[at])
    else return
    event.preventDefault()
  }
  return { at, setActive, onKeyDown }
}

function Content({ choice: { icon, label, note } }: { readonly choice: Choice }) {
  return (
    <>
      {icon !== undefined && <Icon name={icon} />}
      <bdi>{visible(label)}</bdi>
      {note !== undefined && <span>{note}</span>}
    </>
  )
}
