import { useEffect } from 'preact/hooks'
import { takeEntered } from '../session/login-code.ts'
import { useLogOut } from '../features/login/log-out.ts'
import { useMe } from '../session/me.ts'
import { placeOf } from '../format/zones.ts'
import { usePreference } from '../preferences/preference.ts'
import { type Theme, theme, THEMES } from '../preferences/theme.ts'
import { timeZone, zoneName } from '../preferences/time-zone.ts'
import { Button } from '../ui/button.tsx'
import { Icon } from '../ui/icon.tsx'
import { showToast } from '../ui/overlays/toast.tsx'
import { THEME_ICONS } from './palette/page-commands.ts'

/** Who is logged in, and how this browser shows things. */
export function Viewer({ onZone }: { onZone(): void }) {
  const { team, subject } = useMe()
  const logOut = useLogOut()
  useEffect(() => {
    if (!takeEntered()) return
    const text = `A link has logged you in as ${subject} in team ${team}.`
    showToast({ tone: 'note', text, action: { label: 'Log out', run: logOut } })
  }, [])
  return (
    <div class="viewer">
      <div class="viewer-choices">
        <ThemeChoice />
        <ZoneChoice onClick={onZone} />
      </div>
      <div class="viewer-name">
        <Icon name="user" />
        <span>
          <strong>{subject}</strong>
          <span class="soft">Team {team}</span>
        </span>
        <Button look="bare" icon="logout" label="Log out" onClick={logOut} />
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

function ZoneChoice({ onClick }: { onClick(): void }) {
  const chosen = usePreference(timeZone)
  return (
    <Button label={`Times are in ${zoneName(chosen)}. Click for another zone.`} onClick={onClick}>
      <span class="viewer-zone">
        <span class="visually-hidden">Time zone: </span>
        {chosen === 'local' ? 'Local time' : placeOf(chosen)}
      </span>
      <Icon name="down" size={14} />
    </Button>
  )
}
