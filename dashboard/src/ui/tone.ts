import { entryOf } from '../format/values/known-values.ts'

/** What a colour says. */
export type Tone = 'good' | 'bad' | 'warn' | 'busy' | 'dead' | 'plain'

/** A state as a badge shows it. */
export interface TonedLabel {
  readonly tone: Tone
  readonly label: string
}

/** How a state of the API is shown; one that the page does not know by its own name, in no colour. */
export function labelOf<State extends string>(
  table: Readonly<Record<State, TonedLabel>>,
  state: State,
): TonedLabel {
  return entryOf(table, state, (label) => ({ tone: 'plain', label }))
}
