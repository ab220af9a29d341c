import { useEffect, useState } from 'preact/hooks'
import './toast.css'
import { Icon } from '../icon.tsx'
import { visible } from '../../format/visible.ts'

export interface Toast {
  readonly tone: 'good' | 'bad' | 'note'
  readonly text: string
  /** What can be done about it. */
  readonly action?: { readonly label: string; readonly href?: string; run?(): void }
}

const ICONS = { good: 'check', bad: 'warning', note: 'info' } as const
const SHOWN_MS = 8_000
const SHOWN_MAX = 4

type Shown = Toast & { readonly id: number }

let last = 0
let shown: readonly Shown[] = []
const listeners = new Set<() => void>()

function setShown(next: readonly Shown[]): void {
  shown = next
  for (const listener of listeners) listener()
}

/** Says what has happened, for a few seconds; faults and notes stay until they are closed. @returns takes it away */
export function showToast(toast: Toast): () => void {
  last += 1
  const id = last
  const close = (): void => setShown(shown.filter((one) => one.id !== id))
  setShown([...shown, { ...toast, id }].slice(-SHOWN_MAX))
  if (toast.tone === 'good') setTimeout(close, SHOWN_MS)
  return close
}

export function Toasts() {
  const [toasts, setToasts] = useState(shown)
  useEffect(() => {
    const listener = (): void => setToasts(shown)
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }, [])
  const close = (id: number): void => setShown(shown.filter((one) => one.id !== id))
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.map(({ id, tone, text, action }) => (
        <div key={id} class="toast" data-tone={tone}>
          <Icon name={ICONS[tone]} />
          <span>{visible(text)}</span>
          {action?.href !== undefined && <a href={action.href}>{action.label}</a>}
          {action?.run !== undefined && (
            <button
              type="button"
              class="link"
              onClick={() => {
                close(id)
                action.run?.()
              }}
            >
              {action.label}
            </button>
          )}
          <button type="button" class="button" data-look="bare" aria-label="Close" onClick={() => close(id)}>
            <Icon name="close" size={14} />
          </button>
        </div>
      ))}
    </div>
  )
}
