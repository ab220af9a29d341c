import type { ComponentChildren } from 'preact'
import './badge.css'
import type { Tone } from '../tone.ts'

/** A state in one or two words: never told by its colour alone. */
export function Badge({ tone, children }: { readonly tone: Tone; readonly children: ComponentChildren }) {
  return (
    <span class="badge" data-tone={tone}>
      {children}
    </span>
  )
}
