import { useState } from 'preact/hooks'

/** What lies over the page: at most one of them. */
export type Overlay = 'palette' | 'keys' | 'zone' | 'team'

export interface OverlayState {
  readonly shown: Overlay | null
  open(overlay: Overlay): void
  close(overlay: Overlay): void
}

export function useOverlay(): OverlayState {
  const [shown, setShown] = useState<Overlay | null>(null)
  return {
    shown,
    open: setShown,
    // One that another has taken the place of is closed already.
    close: (overlay) => setShown((now) => (now === overlay ? null : now)),
  }
}
