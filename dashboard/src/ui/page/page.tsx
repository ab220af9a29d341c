import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import './page.css'
import { visible } from '../../format/visible.ts'
import { Verbatim } from '../text/verbatim.tsx'

export interface Crumb {
  readonly label: string
  readonly href: string
}

/** One screen: its title, in the tab of the browser too, what can be done with it, and its panels. */
export function Page({
  title,
  crumbs = [],
  state,
  actions,
  children,
}: {
  readonly title: string
  /** The pages above. */
  readonly crumbs?: readonly Crumb[]
  /** Badges beside the title. */
  readonly state?: ComponentChildren
  readonly actions?: ComponentChildren
  readonly children: ComponentChildren
}) {
  useEffect(() => {
    document.title = `${visible(title)} · Punctual`
  }, [title])
  return (
    <div class="page">
      <header class="page-head">
        <div class="page-title">
          {crumbs.length > 0 && (
            <nav class="crumbs" aria-label="Above">
              {crumbs.map(({ label, href }) => (
                <a key={href} href={href}>
                  {label}
                </a>
              ))}
            </nav>
          )}
          <h1>
            <Verbatim text={title} />
          </h1>
          {state !== undefined && <div class="row">{state}</div>}
        </div>
        {actions !== undefined && <div class="row">{actions}</div>}
      </header>
      {children}
    </div>
  )
}

export function Panel({
  title,
  actions,
  isFlush = false,
  children,
}: {
  readonly title?: string
  readonly actions?: ComponentChildren
  /** The content reaches the edges, as a table does. */
  readonly isFlush?: boolean
  readonly children: ComponentChildren
}) {
  return (
    <section class="panel" data-flush={isFlush}>
      {title !== undefined && (
        <header class="panel-head">
          <h2>{title}</h2>
          {actions !== undefined && <div class="row">{actions}</div>}
        </header>
      )}
      <div class="panel-body">{children}</div>
    </section>
  )
}

/** A figure with its name, and what it means now. */
export function Figure({
  name,
  note,
  tone,
  href,
  children,
}: {
  readonly name: string
  readonly note?: ComponentChildren
  readonly tone?: 'good' | 'bad' | 'warn'
  /** The list that it counts. */
  readonly href?: string
  readonly children: ComponentChildren
}) {
  const content = (
    <>
      <span class="figure-name">{name}</span>
      <span class="figure-value number">{children}</span>
      {note !== undefined && <span class="figure-note">{note}</span>}
    </>
  )
  return href === undefined ? (
    <div class="figure" data-tone={tone}>
      {content}
    </div>
  ) : (
    <a class="figure" data-tone={tone} href={href}>
      {content}
    </a>
  )
}

/** Names and values, as `<dl>`. */
export function Facts({ children }: { readonly children: ComponentChildren }) {
  return <dl class="facts">{children}</dl>
}

export function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
