import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { at } from '../../routing/paths.ts'
import './login.css'

/** A page with nothing but a form on it, and the focus in that. */
export function Card({
  title,
  trouble,
  focus,
  children,
}: {
  readonly title: string
  /** Why one is here. */
  readonly trouble: string | null
  /** What is used first, as a selector. */
  readonly focus: string
  readonly children: ComponentChildren
}) {
  const main = useRef<HTMLElement>(null)
  useEffect(() => {
    document.title = `${title} · Punctual`
    main.current?.querySelector<HTMLElement>(focus)?.focus()
  }, [title])
  return (
    <main class="login" ref={main}>
      <div class="login-card form">
        <header>
          <img src={at('/mark.svg')} alt="" width="40" height="40" />
          <h1>{title}</h1>
        </header>
        {trouble !== null && (
          <p class="field-fault" role="alert">
            {trouble}
          </p>
        )}
        {children}
      </div>
    </main>
  )
}
