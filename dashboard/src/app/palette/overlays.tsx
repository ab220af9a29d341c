import { TeamForm } from '../../features/login/team-form.tsx'
import { Dialog } from '../../ui/overlays/dialog.tsx'
import { KeySheet } from './key-sheet.tsx'
import type { OverlayState } from './overlay.ts'
import { Palette } from './palette.tsx'
import { ZonePicker } from './zone-picker.tsx'
import { TokenForm } from '../../features/login/login.tsx'
import { at } from '../../routing/paths.ts'
import { useMe } from '../../session/me.ts'
import { Verbatim } from '../../ui/text/verbatim.tsx'

export function Overlays({ shown, open, close }: OverlayState) {
  if (shown === 'palette') return <Palette open={open} onClose={() => close('palette')} />
  if (shown === 'zone') return <ZonePicker onClose={() => close('zone')} />
  if (shown === 'team') {
    return (
      <Dialog title="Another team" onClose={() => close('team')}>
        <div class="dialog-body">
          <OtherTeam />
        </div>
      </Dialog>
    )
  }
  return shown === 'keys' ? <KeySheet onClose={() => close('keys')} /> : null
}

/** A user is in several teams; a token is in one. */
function OtherTeam() {
  const { kind, team } = useMe()
  if (kind === 'user') return <TeamForm />
  return (
    <>
      <p>
        A token belongs to one team. With one of another team, this browser leaves <Verbatim text={team} />.
      </p>
      <TokenForm teamName="" onEntered={() => window.location.assign(at('/'))} />
    </>
  )
}
