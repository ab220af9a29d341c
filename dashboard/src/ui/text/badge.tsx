import type { ComponentChildren } from 'preact'
import './badge.css'
import { labelOf, type Tone, type TonedLabel } from '../tone.ts'

/** A state in one or two words: never told by its colour alone. */
export function Badge({ tone, children }: { readonly tone: Tone; readonly children: ComponentChildren }) {
  return (
    <span class="badge" data-tone={tone}>
      {children}
    </span>
  )
}

/** A state of the API by the table that says how it is shown. */
export function StateBadge<State extends string>({
  table,
  state,
}: {
  readonly table: Readonly<Record<State, TonedLabel>>
  readonly state: State
}) {
  const { tone, label } = labelOf(table, state)
  return <Badge tone={tone}>{label}</Badge>
}
