import { useLocation } from 'preact-iso'
import { type RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

/** After a step to another screen, the focus is on it and not on what led there, which may be gone. */
export function useArrival(main: RefObject<HTMLElement>): void {
  const { path } = useLocation()
  const before = useRef(path)
  useEffect(() => {
    if (before.current === path) return
    before.current = path
    main.current?.focus({ preventScroll: true })
  }, [path])
}

/** The title of the screen, also when it is known only later; for screen readers, which do not see it change. */
export function useTitle(): string {
  const [title, setTitle] = useState('')
  useEffect(() => {
    const observer = new MutationObserver(() => setTitle(document.title))
    observer.observe(document.head, { childList: true, subtree: true, characterData: true })
    return () => observer.disconnect()
  }, [])
  return title
}
