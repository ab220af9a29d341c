import { useWindows } from '../api/windows.ts'
import { plural } from '../format/numbers.ts'
import { clockText, effectText } from '../format/window-text.ts'
import { Icon } from '../ui/icon.tsx'
import { useZone } from '../ui/time.tsx'
import { at } from './paths.ts'
import './window-banner.css'

const NAMED_MAX = 3

/** What maintenance windows keep from happening now: on top of every screen, since it explains what is missing there. */
export function WindowBanner() {
  const zone = useZone()
  const active = (useWindows().data?.windows ?? []).filter((window) => window.active)
  if (active.length === 0) return null
  const more = active.length - NAMED_MAX
  // What holds jobs matters most.
  const sorted = active.toSorted((a, b) => Number(b.action === 'hold') - Number(a.action === 'hold'))
  return (
    <section class="window-banner" aria-label="Active maintenance windows">
      {sorted.slice(0, NAMED_MAX).map((window) => (
        <a key={window.id} data-action={window.action} href={at('/maintenance', { window: window.id })}>
          <Icon name={window.action === 'hold' ? 'pause' : 'window'} />
          <span>
            <bdi>{effectText(window)}</bdi>
            {window.ends_at === null
              ? ', with no end in sight'
              : ` until ${clockText(Date.parse(window.ends_at), Date.now(), zone)}`}
          </span>
        </a>
      ))}
      {more > 0 && <a href={at('/maintenance')}>{plural(more, 'more window')}</a>}
    </section>
  )
}
