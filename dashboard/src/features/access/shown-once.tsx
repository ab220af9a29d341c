import { Button } from '../../ui/button.tsx'
import { Code } from '../../ui/text/code.tsx'
import { Dialog } from '../../ui/overlays/dialog.tsx'

/** What was just made and cannot be shown again. */
export interface Made {
  readonly label: string
  readonly text: string
  /** What to do with it. */
  readonly hint: string
  /** A command that tries it. */
  readonly command?: string
}

/**
 * Shows a secret once. The page owns it and not the dialog that made it, because browsers hold the form that was
 * submitted last, with all that its handlers can reach.
 */
export function ShownOnce({ made, onClose }: { readonly made: Made; onClose(): void }) {
  return (
    <Dialog title={made.label} size="large" isFirm onClose={onClose}>
      <div class="dialog-body">
        <p>It is shown only now: copy it before you close this. {made.hint}</p>
        <Code label={made.label} text={made.text} />
        {made.command !== undefined && <Code label="Try it in a terminal" text={made.command} />}
        <footer class="dialog-foot">
          <Button look="main" icon="check" onClick={onClose}>
            I have stored it
          </Button>
        </footer>
      </div>
    </Dialog>
  )
}
