import { useEffect } from 'preact/hooks'

const ROW = '[data-rows] > tr'

/** `/` searches; `j` and `k` walk the rows of the first table, Enter opens the current one, `x` chooses it. */
export function useKeyboard(): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event) || isCovered()) return
      const run = KEYS[event.key]
      if (run === undefined) return
      if (run()) event.preventDefault()
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [])
}

/** Each answers whether it did something. */
const KEYS: Readonly<Record<string, () => boolean>> = {
  '/': () => {
    const search = document.querySelector<HTMLElement>('#search')
    search?.focus()
    return search !== null
  },
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

function isTyping({ target }: KeyboardEvent): boolean {
  return target instanceof Element && target.matches('input:not([type=checkbox]), textarea, select')
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
