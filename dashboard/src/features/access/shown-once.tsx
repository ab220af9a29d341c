import type { ComponentChildren } from 'preact'
import { Button } from '../../ui/button.tsx'
import { Code } from '../../ui/code.tsx'

/** In a dialog, what was just made and cannot be shown again. It is gone from the page when the dialog closes. */
export function ShownOnce({
  label,
  text,
  children,
  onClose,
}: {
  readonly label: string
  readonly text: string
  readonly children?: ComponentChildren
  onClose(): void
}) {
  return (
    <div class="dialog-body">
      <p>It is shown only now: copy it before you close this.</p>
      <Code label={label} text={text} />
      {children}
      <footer class="dialog-foot">
        <Button look="main" icon="check" onClick={onClose}>
          I have stored it
        </Button>
      </footer>
    </div>
  )
}
