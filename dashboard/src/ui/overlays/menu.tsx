import type { ComponentChildren } from 'preact'
import { useId, useRef } from 'preact/hooks'
import { Icon, type IconName } from '../icon.tsx'
import './menu.css'
import { visible } from '../../format/visible.ts'

export interface MenuItem {
  readonly label: string
  readonly icon?: IconName
  readonly look?: 'bad'
  /** Why it cannot be chosen. */
  readonly disabled?: string | false
  readonly href?: string
  run?(): void
}

/** A button that opens a list of actions, by the browser's own popover: Esc and a click elsewhere close it. */
export function Menu({
  label,
  icon = 'more',
  items,
  children,
}: {
  readonly label: string
  readonly icon?: IconName
  readonly items: readonly MenuItem[]
  /** The text of the button; without it, the icon stands alone. */
  readonly children?: ComponentChildren
}) {
  const id = useId()
  const popover = useRef<HTMLDivElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  return (
    <>
      <button
        ref={button}
        type="button"
        class="button"
        data-look={children === undefined ? 'bare' : 'plain'}
        aria-label={children === undefined ? label : undefined}
        aria-haspopup="menu"
        popovertarget={id}
      >
        {children}
        <Icon name={children === undefined ? icon : 'down'} />
      </button>
      <div
        ref={popover}
        id={id}
        class="menu"
        popover="auto"
        role="menu"
        aria-label={label}
        onToggle={(event) => {
          if (event.newState === 'open') place(popover.current, button.current)
        }}
        onKeyDown={(event) => walk(event, popover.current)}
      >
        {items.map((item) => (
          <Item key={item.label} item={item} onChosen={() => popover.current?.hidePopover()} />
        ))}
      </div>
    </>
  )
}

function Item({ item, onChosen }: { readonly item: MenuItem; onChosen(): void }) {
  const { label, icon, look, disabled = false, href, run } = item
  const content = (
    <>
      {icon !== undefined && <Icon name={icon} />}
      <span>
        {visible(label)}
        {disabled !== false && <small>{disabled}</small>}
      </span>
    </>
  )
  if (href !== undefined) {
    return (
      <a role="menuitem" href={href} onClick={onChosen}>
        {content}
      </a>
    )
  }
  return (
    <button
      type="button"
      role="menuitem"
      data-look={look}
      disabled={disabled !== false}
      onClick={() => {
        onChosen()
        run?.()
      }}
    >
      {content}
    </button>
  )
}

const GAP = 4
const EDGE = 8

/** Below its button, or above where there is no room; within the window. */
function place(menu: HTMLElement | null, button: HTMLElement | null): void {
  if (menu === null || button === null) return
  const [from, size] = [button.getBoundingClientRect(), menu.getBoundingClientRect()]
  const isRoom = from.bottom + GAP + size.height <= window.innerHeight - EDGE
  menu.style.top = `${Math.max(EDGE, isRoom ? from.bottom + GAP : from.top - GAP - size.height)}px`
  menu.style.left = `${Math.max(EDGE, Math.min(from.right - size.width, window.innerWidth - size.width - EDGE))}px`
  // The browser tells that the menu is open a moment after it is: whoever is in it by then keeps their place.
  if (menu.contains(document.activeElement)) return
  menu.querySelector<HTMLElement>('[role=menuitem]:not(:disabled)')?.focus()
}

function walk(event: KeyboardEvent, menu: HTMLElement | null): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  if (step === undefined || menu === null) return
  event.preventDefault()
  const items = [...menu.querySelectorAll<HTMLElement>('[role=menuitem]:not(:disabled)')]
  const at = items.indexOf(document.activeElement as HTMLElement)
  items[(at + step + items.length) % items.length]?.focus()
}
