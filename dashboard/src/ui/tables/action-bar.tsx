import type { ComponentChildren } from 'preact'
import './action-bar.css'
import { Button } from '../button.tsx'

/** Below a table: what is chosen in it, and what can be done with that. It stays in sight. */
export function ActionBar({
  text,
  more,
  onClear,
  children,
}: {
  readonly text: string
  readonly more?: ComponentChildren
  onClear(): void
  readonly children: ComponentChildren
}) {
  return (
    <section class="action-bar" aria-label="What is chosen">
      <span class="action-bar-text" role="status">
        <strong>{text}</strong>
        {more}
      </span>
      <div class="row action-bar-actions">{children}</div>
      <span data-escape>
        <Button look="bare" icon="close" label="Choose none" onClick={onClear} />
      </span>
    </section>
  )
}
