import { useEffect, useState } from 'preact/hooks'
import { useUrlQuery } from './url-query.ts'

/**
 * Whether a form is open: by a button, or by an address that asks for it with `new`. The address loses that at once: a
 * later step of the router would keep what was drawn before it, and so a secret that the form led to.
 */
export function useAskedForm(form: string): readonly [isOpen: boolean, open: (isOpen: boolean) => void] {
  const { values, set } = useUrlQuery()
  const isAsked = values['new'] === form
  const [isOpen, setIsOpen] = useState(isAsked)
  useEffect(() => {
    if (!isAsked) return
    setIsOpen(true)
    set({ new: null })
  }, [isAsked])
  return [isOpen, setIsOpen]
}
