import './tabs.css'

export interface Tab {
  readonly id: string
  readonly label: string
  readonly href: string
}

/** Parts of one screen, each with an address of its own. */
export function Tabs({
  label,
  tabs,
  current,
}: {
  readonly label: string
  readonly tabs: readonly Tab[]
  /** The id of the one that is shown. */
  readonly current: string
}) {
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map((tab) => (
        <a key={tab.id} href={tab.href} aria-current={tab.id === current ? 'page' : undefined}>
          {tab.label}
        </a>
      ))}
    </nav>
  )
}
