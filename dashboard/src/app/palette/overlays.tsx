import { TeamForm } from '../../features/login/team-form.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { KeySheet } from './key-sheet.tsx'
import type { OverlayState } from './overlay.ts'
import { Palette } from './palette.tsx'
import { ZonePicker } from './zone-picker.tsx'

export function Overlays({ shown, open, close }: OverlayState) {
  if (shown === 'palette') return <Palette open={open} onClose={() => close('palette')} />
  if (shown === 'zone') return <ZonePicker onClose={() => close('zone')} />
  if (shown === 'team') {
    return (
      <Dialog title="Another team" onClose={() => close('team')}>
        <div class="dialog-body">
          <TeamForm />
        </div>
      </Dialog>
    )
  }
  return shown === 'keys' ? <KeySheet onClose={() => close('keys')} /> : null
}
