import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { ApiError } from '../../../clients/typescript/src/client.ts'
import { faultText } from '../api/faults.ts'
import { Button } from './button.tsx'
import './dialog.css'

/** Opens a dialog with what is drawn, so that no key is lost, and gives the focus back also where it is taken off the page. */
export function useModal(onClose: () => void) {
  const ref = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => {
    const dialog = ref.current
    dialog?.showModal()
    return () => dialog?.close()
  }, [])
  // One that is gone has told it already.
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
  /** A click beside it does not close it, as with fields in it: what it shows cannot be had again. */
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
        // The dialog itself is hit only beside its content. What may have been typed is not lost by that.
        const isForm = dialog.querySelector('input, textarea, select') !== null
        if (target === dialog && !isFirm && !isForm) dialog.close()
      }}
    >
      <div class="dialog-content">
        <header class="dialog-head">
          <h2>{title}</h2>
          <Button look="bare" icon="close" label="Close" onClick={() => modal.ref.current?.close()} />
        </header>
        {children}
      </div>
    </dialog>
  )
}

/** What the server said against a form, beside what it said of single fields. */
export function FormFault({ fault }: { readonly fault: unknown }) {
  if (fault === null) return null
  const isOfFields = fault instanceof ApiError && fault.errors !== null
  return (
    <p class="field-fault" role="alert">
      {isOfFields ? 'Some fields need another value.' : faultText(fault)}
    </p>
  )
}

/** A form in a dialog, with its buttons and what the server said against it. */
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
  /** Beside the buttons. */
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
        {...{ verb, look, isReady }}
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
