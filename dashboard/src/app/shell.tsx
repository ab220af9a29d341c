import type { ComponentChildren } from 'preact'
import { useLocation } from 'preact-iso'
import { useEffect, useState } from 'preact/hooks'
import { useChange } from '../api/changes.ts'
import { useMay, useMe } from '../api/me.ts'
import { usePreference } from '../preferences/preference.ts'
import { type Theme, theme, THEMES } from '../preferences/theme.ts'
import { timeZone, zoneName } from '../preferences/time-zone.ts'
import { Button, LinkButton } from '../ui/button.tsx'
import { Icon } from '../ui/icon.tsx'
import { Menu } from '../ui/menu.tsx'
import { LiveStatus } from './live-status.tsx'
import { Navigation } from './navigation.tsx'
import { at } from './paths.ts'
import './shell.css'

/** What is around every screen. */
export function Shell({ children }: { readonly children: ComponentChildren }) {
  const { path } = useLocation()
  const [isOpen, setIsOpen] = useState(false)
  useEffect(() => setIsOpen(false), [path])
  return (
    <div class="shell" data-open={isOpen}>
      <a class="skip" href="#content">
        To the content
      </a>
      <aside class="side">
        <Brand />
        <Navigation />
        <Viewer />
      </aside>
      <button type="button" class="curtain" aria-label="Close the menu" onClick={() => setIsOpen(false)} />
      <div class="main">
        <header class="top">
          <span class="top-menu">
            <Button look="bare" icon="menu" label="Menu" onClick={() => setIsOpen(true)} />
          </span>
          <Search />
          <TopActions />
        </header>
        <main id="content" tabIndex={-1}>
          {children}
        </main>
      </div>
    </div>
  )
}

function Brand() {
  return (
    <a class="brand" href={at('/')}>
      <img src={at('/mark.svg')} alt="" width="26" height="26" />
      Punctual
    </a>
  )
}

/** Finds a job by its id, or leads to the list of jobs with this text. */
function Search() {
  const { route } = useLocation()
  const [text, setText] = useState('')
  return (
    <form
      class="bar top-search"
      role="search"
      onSubmit={(event) => {
        event.preventDefault()
        const sought = text.trim()
        if (sought === '') return
        route(isJobId(sought) ? at(`/jobs/${sought}`) : at('/jobs', { text: sought }))
        setText('')
      }}
    >
      <Icon name="search" />
      <input
        id="search"
        type="search"
        aria-label="Search jobs by id, URL or payload"
        placeholder="Job id, URL or payload text"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <kbd>/</kbd>
    </form>
  )
}

function isJobId(text: string): boolean {
  return /^\d{1,16}$/.test(text) || /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text)
}

function TopActions() {
  const mayPush = useMay('push')
  return (
    <div class="row top-actions">
      <LiveStatus />
      {mayPush && (
        <LinkButton look="main" icon="send" href={at('/send')}>
          <span class="top-word">Send a job</span>
        </LinkButton>
      )}
    </div>
  )
}

const THEME_ICONS = { system: 'screen', light: 'sun', dark: 'moon' } as const

/** Who is logged in, and how this browser shows things. */
function Viewer() {
  const { team, subject } = useMe()
  const logOut = useChange((api) => api.endSession(), {
    onDone: () => window.location.assign(at('/')),
  })
  return (
    <div class="viewer">
      <div class="viewer-choices">
        <ThemeChoice />
        <ZoneChoice />
      </div>
      <div class="viewer-name">
        <Icon name="user" />
        <span>
          <strong>{subject}</strong>
          <span class="soft">Team {team}</span>
        </span>
        <Button look="bare" icon="logout" label="Log out" onClick={() => logOut.mutate(undefined)} />
      </div>
    </div>
  )
}

function ThemeChoice() {
  const chosen = usePreference(theme)
  return (
    <div class="choice" role="group" aria-label="Theme">
      {THEMES.map((one: Theme) => (
        <Button
          key={one}
          look="bare"
          icon={THEME_ICONS[one]}
          label={`Theme: ${one}`}
          isPressed={one === chosen}
          onClick={() => theme.set(one)}
        />
      ))}
    </div>
  )
}

function ZoneChoice() {
  const chosen = usePreference(timeZone)
  return (
    <Menu
      label="Time zone"
      items={[
        { label: `Local (${zoneName('local')})`, run: () => timeZone.set('local') },
        { label: 'UTC', run: () => timeZone.set('UTC') },
      ]}
    >
      {chosen === 'local' ? 'Local time' : chosen}
    </Menu>
  )
}
