import type { ComponentChildren } from 'preact'
import { useLocation } from 'preact-iso'
import { useEffect, useRef, useState } from 'preact/hooks'
import { useMay } from '../session/me.ts'
import { Button, LinkButton } from '../ui/button.tsx'
import { useArrival, useTitle } from './arrival.ts'
import { useKeyboard } from './keyboard.ts'
import { LiveStatus } from './live-status.tsx'
import { Navigation } from './navigation.tsx'
import { PALETTE_KEYS } from './palette/key-sheet.tsx'
import { useOverlay } from './palette/overlay.ts'
import { Overlays } from './palette/overlays.tsx'
import { at } from '../routing/paths.ts'
import { Search } from './search.tsx'
import './shell.css'
import { WindowBanner } from '../features/maintenance/window-banner.tsx'
import { TestClockBanner } from './test-clock-banner.tsx'
import { Viewer } from './viewer.tsx'

/** What is around every screen. */
export function Shell({ children }: { readonly children: ComponentChildren }) {
  const overlay = useOverlay()
  const main = useRef<HTMLElement>(null)
  const drawer = useDrawer()
  useKeyboard(overlay)
  useArrival(main)
  return (
    <div class="shell" data-open={drawer.isOpen}>
      <a
        class="skip"
        href="#content"
        onClick={(event) => {
          // The address of this link is relative to where the dashboard is, not to this page.
          event.preventDefault()
          main.current?.focus()
        }}
      >
        To the content
      </a>
      <aside class="side" ref={drawer.side}>
        <Brand />
        <Navigation />
        <Viewer onZone={() => overlay.open('zone')} />
      </aside>
      {drawer.isOpen && (
        <span data-escape>
          <button type="button" class="curtain" aria-label="Close the menu" onClick={drawer.close} />
        </span>
      )}
      <div class="main" inert={drawer.isOpen}>
        <header class="top">
          <span class="top-menu" ref={drawer.button}>
            <Button look="bare" icon="menu" label="Menu" onClick={drawer.open} />
          </span>
          <Search />
          <span class="top-palette">
            <Button icon="command" label="Go anywhere, do anything" onClick={() => overlay.open('palette')}>
              <span>Find or do …</span>
              <kbd>{PALETTE_KEYS}</kbd>
            </Button>
          </span>
          <TopActions />
        </header>
        <TestClockBanner />
        <WindowBanner />
        <main id="content" tabIndex={-1} ref={main}>
          {children}
        </main>
      </div>
      <Overlays {...overlay} />
      <Title />
    </div>
  )
}

/** The list of screens where there is no room for it beside them: it lies over the page until it is left. */
function useDrawer() {
  const { path } = useLocation()
  const [openOn, setOpenOn] = useState<string | null>(null)
  const isOpen = openOn === path
  const side = useRef<HTMLElement>(null)
  const button = useRef<HTMLSpanElement>(null)
  const wasOpen = useRef(false)
  const close = (): void => setOpenOn(null)
  useEffect(close, [path])
  useEffect(() => {
    // Elsewhere the focus would stay on what nobody can reach.
    if (isOpen) side.current?.querySelector<HTMLElement>('a[aria-current]')?.focus()
    else if (wasOpen.current) button.current?.querySelector('button')?.focus()
    wasOpen.current = isOpen
    const wide = window.matchMedia('(min-width: 901px)')
    wide.addEventListener('change', close)
    return () => wide.removeEventListener('change', close)
  }, [isOpen])
  return { isOpen, side, button, open: () => setOpenOn(path), close }
}

function Brand() {
  return (
    <a class="brand" href={at('/')}>
      <img src={at('/mark.svg')} alt="" width="26" height="26" />
      Punctual
    </a>
  )
}

function Title() {
  return (
    <p class="visually-hidden" role="status">
      {useTitle()}
    </p>
  )
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
