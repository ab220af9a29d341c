import { useLayoutEffect } from 'preact/hooks'
import { IS_MAC } from './palette/key-sheet.tsx'
import type { OverlayState } from './palette/overlay.ts'

const ROW = '[data-rows] > tr'

/**
 * Ctrl or ⌘ and `k` open the palette, `?` the keys. `/` searches; `j` and `k` walk the rows of the first table, Enter opens
 * the current one, `x` chooses it. Esc leaves whatever one is in.
 */
export function useKeyboard({ shown, open, close }: OverlayState): void {
  // With what is drawn, so that no key is lost.
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const isHandled = isPaletteKey(event) ? togglePalette() : runKey(event)
      if (isHandled) event.preventDefault()
    }
    const togglePalette = (): boolean => {
      if (shown === 'palette') close('palette')
      else if (document.querySelector('dialog[open]') === null) open('palette')
      // Browsers have a search of their own on these keys.
      return true
    }
    const runKey = (event: KeyboardEvent): boolean => {
      if (event.ctrlKey || event.metaKey || event.altKey || isCovered()) return false
      if (event.key === 'Escape') return leave()
      if (isTyping(event)) return false
      if (event.key === '?') open('keys')
      else if (event.key === '/' && !search()) open('palette')
      else return KEYS[event.key]?.() ?? event.key === '/'
      return true
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [shown])
}

function isPaletteKey({ key, ctrlKey, metaKey, altKey, shiftKey }: KeyboardEvent): boolean {
  // On a Mac, Ctrl and k belong to the text that is edited.
  const isAlone = IS_MAC ? metaKey && !ctrlKey : ctrlKey && !metaKey
  return key.toLowerCase() === 'k' && isAlone && !altKey && !shiftKey
}

/** Each answers whether it did something. */
const KEYS: Readonly<Record<string, () => boolean>> = {
  j: () => walk(1),
  k: () => walk(-1),
  x: () => {
    const box = currentRow()?.querySelector<HTMLElement>('input[type=checkbox]')
    box?.click()
    return box !== null && box !== undefined
  },
  Enter: () => {
    const isOnControl = document.activeElement?.matches('a, button, input, select, summary') === true
    const link = isOnControl ? null : currentRow()?.querySelector<HTMLElement>('td a')
    link?.click()
    return link !== null && link !== undefined
  },
}

/** Focuses the search of the screen, or else the one above all screens. @returns false where none is shown */
function search(): boolean {
  const fields = document.querySelectorAll<HTMLInputElement>('main input[type=search], #search')
  const shown = [...fields].filter((field) => field.checkVisibility())
  const field = shown.find(({ id }) => id !== 'search') ?? shown[0]
  field?.select()
  return field !== undefined
}

/** A field, after what was sought in it; then the current row; then what says that Esc is for it, such as a choice. */
function leave(): boolean {
  const { activeElement } = document
  if (activeElement instanceof HTMLElement && isField(activeElement)) return leaveField(activeElement)
  const row = currentRow()
  row?.removeAttribute('data-current')
  if (row === null) document.querySelector<HTMLElement>('[data-escape] button')?.click()
  return true
}

function leaveField(field: HTMLElement): boolean {
  if (field instanceof HTMLInputElement && field.type === 'search' && field.value !== '') {
    // Not every browser does it by itself.
    field.value = ''
    field.dispatchEvent(new Event('input', { bubbles: true }))
  } else field.blur()
  return true
}

function isTyping({ target }: KeyboardEvent): boolean {
  return target instanceof Element && isField(target)
}

function isField(element: Element): boolean {
  return element.matches('input:not([type=checkbox]), textarea, select')
}

/** A dialog or a menu is open: keys are its own. */
function isCovered(): boolean {
  return document.querySelector('dialog[open], :popover-open') !== null
}

function currentRow(): HTMLElement | null {
  return document.querySelector<HTMLElement>(`${ROW}[data-current]`)
}

function walk(step: 1 | -1): boolean {
  const rows = [...document.querySelectorAll<HTMLElement>(ROW)]
  if (rows.length === 0) return false
  const current = rows.findIndex((row) => row.hasAttribute('data-current'))
  const next = current === -1 ? 0 : Math.min(rows.length - 1, Math.max(0, current + step))
  rows[current]?.removeAttribute('data-current')
  const row = rows[next]
  row?.setAttribute('data-current', '')
  row?.scrollIntoView({ block: 'nearest' })
  return true
}
