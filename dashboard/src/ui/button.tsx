import type { ComponentChildren } from 'preact'
import './button.css'
import { Icon, type IconName } from './icon.tsx'

interface Look {
  readonly look?: 'main' | 'plain' | 'bad' | 'bare'
  readonly icon?: IconName
  /** What it does, where the icon stands alone, and more than its text says. */
  readonly label?: string
  readonly children?: ComponentChildren
}

export interface ButtonProps extends Look {
  onClick?(event: MouseEvent): void
  readonly type?: 'button' | 'submit'
  /** It cannot be used. A reason is shown, so that nobody has to guess. */
  readonly disabled?: boolean | string
  /** What it started is under way. */
  readonly isBusy?: boolean
  readonly isPressed?: boolean
}

export function Button({ look = 'plain', icon, label, children, ...rest }: ButtonProps) {
  const { onClick, type = 'button', disabled = false, isBusy = false, isPressed } = rest
  const reason = typeof disabled === 'string' ? disabled : undefined
  return (
    <button
      type={type}
      class="button"
      data-look={look}
      aria-label={children === undefined ? label : undefined}
      title={reason ?? label}
      disabled={disabled !== false || isBusy}
      aria-busy={isBusy}
      aria-pressed={isPressed}
      onClick={onClick}
    >
      {icon !== undefined && <Icon name={icon} />}
      {children}
    </button>
  )
}

/** A button that looks like a link: it changes what is shown. */
export function TextButton({ onClick, children }: { onClick(): void; readonly children: ComponentChildren }) {
  return (
    <button type="button" class="link" onClick={onClick}>
      {children}
    </button>
  )
}

/** A link that looks like a button: it leads to another page. */
export function LinkButton({
  look = 'plain',
  icon,
  label,
  children,
  href,
}: Look & { readonly href: string }) {
  return (
    <a
      class="button"
      data-look={look}
      href={href}
      aria-label={children === undefined ? label : undefined}
      title={label}
    >
      {icon !== undefined && <Icon name={icon} />}
      {children}
    </a>
  )
}
