import { useQueryClient } from '@tanstack/preact-query'
import { useLocation } from 'preact-iso'
import { setPaused, useLiveState } from '../../api/live.ts'
import { useLogOut } from '../../features/login/log-out.ts'
import { useMe } from '../../session/me.ts'
import { usePreference } from '../../preferences/preference.ts'
import { theme, THEMES } from '../../preferences/theme.ts'
import { timeForm } from '../../preferences/time-form.ts'
import { timeZone, zoneName } from '../../preferences/time-zone.ts'
import { copyText } from '../../ui/text/hand-over.ts'
import type { Choice } from '../../ui/overlays/picker.tsx'
import { PLACES } from '../navigation.tsx'
import { at } from '../../routing/paths.ts'
import type { Overlay } from './overlay.ts'
import { BASE } from '../../session/client.ts'

/** The screens. */
export function useScreenCommands(): readonly Choice[] {
  const { route } = useLocation()
  return PLACES.flatMap((group) => group.places).map(({ label, path, icon }): Choice => {
    return { key: path, label, icon, run: () => route(at(path)) }
  })
}

/** How this browser shows things. @param open shows another one over the page */
export function useViewCommands(open: (overlay: Overlay) => void): readonly Choice[] {
  const queries = useQueryClient()
  const isPaused = useLiveState() === 'paused'
  const isRelative = usePreference(timeForm) === 'relative'
  const { team } = useMe()
  const own = zoneName('local')
  const logOut = useLogOut()
  const command = (
    label: string,
    icon: Choice['icon'],
    run: () => void,
    note?: string,
    words?: string,
  ): Choice => {
    return { key: label, label, run, ...(icon && { icon }), ...(note && { note }), ...(words && { words }) }
  }
  return [
    command(isPaused ? 'Follow changes again' : 'Pause live updates', isPaused ? 'play' : 'pause', () =>
      setPaused(!isPaused, queries),
    ),
    command('Time zone …', 'cron', () => open('zone'), usePreference(timeZone)),
    command('Time zone: UTC', 'cron', () => timeZone.set('UTC')),
    command(`Time zone: ${own}`, 'cron', () => timeZone.set('local'), 'This browser'),
    command(isRelative ? 'Show times by the clock' : 'Show how long ago things were', 'cron', () =>
      timeForm.set(isRelative ? 'stamp' : 'relative'),
    ),
    ...THEMES.map((one) => command(`Theme: ${one}`, THEME_ICONS[one], () => theme.set(one))),
    command('Copy the link to this page', 'copy', () => void copyText(window.location.href, 'The link')),
    command('Keys', 'command', () => open('keys'), '?', 'help docs shortcuts keyboard'),
    command(
      'The API, as an OpenAPI document',
      'download',
      openContract,
      undefined,
      'docs documentation help',
    ),
    command('Another team …', 'user', () => open('team'), team, 'switch token log in as'),
    command('Log out', 'logout', logOut, undefined, 'sign out leave'),
  ]
}

function openContract(): void {
  window.open(`${BASE}/api/openapi.json`, '_blank', 'noopener')
}

export const THEME_ICONS = { system: 'screen', light: 'sun', dark: 'moon' } as const
