import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { ApiError } from '../../../../clients/typescript/src/client.ts'
import { faultText } from '../../format/faults.ts'
import { Button } from '../button.tsx'
import './dialog.css'
import { visible } from '../../format/visible.ts'

/** Opens a dialog with what is drawn, so that no key is lost, and gives the focus back also where it is taken off the page. */
export function useModal(onClose: () => void) {
  const ref = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => {
    const dialog = ref.current
    dialog?.showModal()
    return () => dialog?.close()
  }, [])
  // The browser's `close` event comes late: a dialog that is off the page has called `onClose` before.
  return { ref, onClose: () => ref.current !== null && onClose() }
}

/** The browser's own dialog: it keeps the focus inside, closes with Esc, and gives the focus back. */
export function Dialog({
  title,
  size = 'small',
  isFirm = false,
  onClose,
  children,
}: {
  readonly title: string
  readonly size?: 'small' | 'large'
  /** Whether a click outside leaves it open, as it does where the dialog has fields; for what is shown only once. */
  readonly isFirm?: boolean
  onClose(): void
  readonly children: ComponentChildren
}) {
  const modal = useModal(onClose)
  return (
    <dialog
      {...modal}
      class="dialog"
      data-size={size}
      aria-label={title}
      onPointerDown={({ target, currentTarget: dialog }) => {
        // The target is the dialog itself only outside its content. A form stays open, so that no input is lost.
        const isForm = dialog.querySelector('input, textarea, select') !== null
        if (target === dialog && !isFirm && !isForm) dialog.close()
      }}
    >
      <div class="dialog-content">
        <header class="dialog-head">
          <h2>{visible(title)}</h2>
          <Button look="bare" icon="close" label="Close" onClick={() => modal.ref.current?.close()} />
        </header>
        {children}
      </div>
    </dialog>
  )
}

/** Why the server refused a form; what is wrong with a single field is shown at that field. */
export function FormFault({ fault }: { readonly fault: unknown }) {
  if (fault === null) return null
  const isOfFields = fault instanceof ApiError && fault.errors !== null
  return (
    <p class="field-fault" role="alert">
      {isOfFields ? 'Some fields need another value.' : faultText(fault)}
    </p>
  )
}

/** A form in a dialog, with its buttons and the server's refusal. */
export function DialogForm({
  verb,
  look = 'main',
  isReady = true,
  isBusy = false,
  fault = null,
  note,
  onSave,
  onClose,
  children,
}: {
  /** What its button does. */
  readonly verb: string
  readonly look?: 'main' | 'bad'
  readonly isReady?: boolean
  readonly isBusy?: boolean
  readonly fault?: unknown
  /** To the left of the buttons. */
  readonly note?: ComponentChildren
  onSave(): void
  onClose(): void
  readonly children: ComponentChildren
}) {
  return (
    <form
      class="dialog-form"
      onSubmit={(event) => {
        event.preventDefault()
        if (isReady && !isBusy) onSave()
      }}
    >
      {children}
      <FormFault fault={fault} />
      <footer class="dialog-foot">
        {note}
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" look={look} isBusy={isBusy} disabled={!isReady}>
          {verb}
        </Button>
      </footer>
    </form>
  )
}

export interface ConfirmProps {
  readonly title: string
  /** What will happen, with how many things it happens to. */
  readonly children: ComponentChildren
  /** What the button does and to what, such as `Delete 37 jobs`. */
  readonly verb: string
  readonly look?: 'main' | 'bad'
  /** A word that has to be typed first, where much is lost for good. */
  readonly typed?: string
  readonly isBusy?: boolean
  /** false = it cannot be done, as the text says. */
  readonly isReady?: boolean
  readonly fault?: unknown
  onConfirm(): void
  onClose(): void
}

export function Confirm({ title, children, verb, look = 'bad', typed, ...rest }: ConfirmProps) {
  const [text, setText] = useState('')
  const isReady = (typed === undefined || text === typed) && rest.isReady !== false
  return (
    <Dialog title={title} onClose={rest.onClose}>
      <DialogForm
        verb={verb}
        look={look}
        isReady={isReady}
        isBusy={rest.isBusy ?? false}
        fault={rest.fault ?? null}
        onSave={rest.onConfirm}
        onClose={rest.onClose}
      >
        <div class="stack">
          {children}
          {typed !== undefined && (
            <label class="field">
              <span class="field-label">
                Type <code>{typed}</code> to go on
              </span>
              <input
                value={text}
                autocomplete="off"
                spellcheck={false}
                onInput={(event) => setText(event.currentTarget.value)}
              />
            </label>
          )}
        </div>
      </DialogForm>
    </Dialog>
  )
}
