import { useWindows } from '../../api/windows.ts'
import { plural } from '../../format/numbers.ts'
import { clockText, effectText } from './window-text.ts'
import { Icon } from '../../ui/icon.tsx'
import { useZone } from '../../ui/text/time.tsx'
import { at } from '../../routing/paths.ts'
import { visible } from '../../format/visible.ts'
import './window-banner.css'
import { Verbatim } from '../../ui/text/verbatim.tsx'

/**
 * What maintenance windows keep from happening now: on top of every screen, since it explains what is missing there. It is
 * one line however many there are.
 */
export function WindowBanner() {
  const zone = useZone()
  const active = (useWindows().data?.windows ?? []).filter((window) => window.active)
  const more = active.length - 1
  // What holds jobs matters most.
  const first = active.find(({ action }) => action === 'hold') ?? active[0]
  if (first === undefined) return null
  const { id, action, ends_at: end } = first
  const until =
    end === null ? ', with no end in sight' : ` until ${clockText(Date.parse(end), Date.now(), zone)}`
  const effect = effectText(first)
  return (
    <section class="window-banner" data-action={action} aria-label="Active maintenance windows">
      <a
        class="window-banner-first"
        href={at('/maintenance', { window: id })}
        title={visible(effect + until)}
      >
        <Icon name={action === 'hold' ? 'pause' : 'window'} />
        <Verbatim text={effect} />
        <span>{until}</span>
      </a>
      {more > 0 && <a href={at('/maintenance')}>and {plural(more, 'more window')}</a>}
    </section>
  )
}
