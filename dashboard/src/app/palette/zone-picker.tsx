import { formatStamp } from '../../format/times.ts'
import { offsetOf, zonesFor } from '../../format/zones.ts'
import { timeZone, zoneName } from '../../preferences/time-zone.ts'
import { type Choice, Picker } from '../../ui/overlays/picker.tsx'
import { useNow } from '../../ui/text/time.tsx'

const MINUTE_MS = 60_000

/** Any zone, by its name, with the time that it has now. */
export function ZonePicker({ onClose }: { onClose(): void }) {
  const nowMs = Math.floor(useNow() / MINUTE_MS) * MINUTE_MS
  const own = zoneName('local')
  const choices = (text: string): readonly Choice[] =>
    zonesFor(text, own).map((zone) => ({
      key: zone,
      label: `${zone.replaceAll('_', ' ')}${zone === own ? ' (this browser)' : ''}`,
      note: <Clock zone={zone} nowMs={nowMs} />,
      icon: 'cron',
      // The browser's own moves with its user.
      run: () => timeZone.set(zone === own ? 'local' : zone),
    }))
  return <Picker label="Time zone" choicesFor={choices} onClose={onClose} />
}

/** A part of its own, because only those that are shown cost anything. */
function Clock({ zone, nowMs }: { readonly zone: string; readonly nowMs: number }) {
  return (
    <span class="number">
      {offsetOf(zone, nowMs)} · {formatStamp(nowMs, zone).slice(11, 16)}
    </span>
  )
}
