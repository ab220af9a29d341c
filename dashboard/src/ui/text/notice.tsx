import type { ComponentChildren } from 'preact'
import { Icon, type IconName } from '../icon.tsx'
import './notice.css'
import type { Tone } from '../tone.ts'

/** A sentence or two above the rest, about what one should know first. */
export function Notice({
  icon,
  tone,
  children,
}: {
  readonly icon: IconName
  readonly tone: Tone
  readonly children: ComponentChildren
}) {
  return (
    <p class="notice" data-tone={tone}>
      <Icon name={icon} />
      <span>{children}</span>
    </p>
  )
}
