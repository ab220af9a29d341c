import { useMemo } from 'preact/hooks'
import type { Cron } from '../../../../../clients/typescript/src/client.ts'
import { useCronPreview } from './cron-preview.ts'
import { dayOfChange, nextClockChange, weekdayOf } from '../../../format/clock-changes.ts'
import { fromLocalInput } from '../../../format/local-input.ts'
import { isTimeZone } from '../../../format/zones.ts'
import { Fault, Loading } from '../../../ui/page/empty.tsx'
import { Panel } from '../../../ui/page/page.tsx'
import { useNow, useZone } from '../../../ui/text/time.tsx'
import { RunTable } from './run-times-table.tsx'
import { ticksAround, timesOf } from './run-times.ts'

type Schedule = Pick<Cron, 'cron_expression' | 'time_zone'>

const DAY_MS = 86_400_000
/** Some pass before they are read again. */
export const SPARE = 2
const TICKS_MAX = 100
const AROUND = 5

/** The next runs in the cron's zone and the viewer's; the scheduler itself says when they are. */
export function NextRuns({ schedule, count }: { readonly schedule: Schedule; readonly count: number }) {
  const { cron_expression, time_zone } = schedule
  const preview = useCronPreview({ cron_expression, time_zone, count: count + SPARE })
  // While another zone is asked about, what is shown is of the one before.
  const zones = useZones(preview.data?.time_zone ?? 'UTC')
  const nowMs = useNow()
  const ticks = msOf(preview.data?.next_runs)
    .filter((at) => at > nowMs)
    .slice(0, count)
  const times = useMemo(
    () => timesOf(ticks, { fromMs: Date.now(), toMs: ticks.at(-1) ?? 0, zones }),
    [ticks.join(), zones.join()],
  )
  if (preview.isError) return <Fault fault={preview.error} onRetry={() => void preview.refetch()} />
  if (preview.data === undefined) return <Loading what="the next runs" />
  return <RunTable caption="Next runs" times={times} zones={zones} />
}

/** When it runs on the day on which the clocks of its zone change next; nothing where they do not. */
export function AtClockChange({ schedule }: { readonly schedule: Schedule }) {
  const { cron_expression, time_zone: zone } = schedule
  const today = Math.floor(useNow() / DAY_MS)
  const change = useMemo(
    () => (isTimeZone(zone) ? nextClockChange(today * DAY_MS, zone) : null),
    [today, zone],
  )
  const day = change === null ? '' : dayOfChange(change)
  // Where the day begins with the change, its own midnight is not there.
  const startMs =
    change === null ? 0 : Math.min(Date.parse(fromLocalInput(`${day}T00:00`, zone) ?? ''), change.atMs) - 1
  const preview = useCronPreview(
    change === null
      ? null
      : { cron_expression, time_zone: zone, count: TICKS_MAX, after: new Date(startMs).toISOString() },
  )
  const zones = useZones(zone)
  if (change === null) return null
  const ticks = ticksAround(msOf(preview.data?.next_runs), change, zone, AROUND)
  const toMs = Math.max(change.atMs, ticks.at(-1) ?? 0)
  return (
    <Panel isFlush title={`When clocks change: ${weekdayOf(day)} ${day}`}>
      <RunTable
        caption={`Runs on ${day}`}
        times={timesOf(ticks, { fromMs: startMs, toMs, zones: [zone] })}
        zones={zones}
        isOneDay
      />
      {preview.isSuccess && ticks.length === 0 && <p class="runs-note soft">It does not run on that day.</p>}
    </Panel>
  )
}

/** The cron's, and the viewer's if it is another. A browser may not know each zone of the server. */
function useZones(own: string): readonly string[] {
  const known = isTimeZone(own) ? own : 'UTC'
  const viewers = useZone()
  return viewers === known ? [known] : [known, viewers]
}

function msOf(stamps: readonly string[] = []): number[] {
  return stamps.map((at) => Date.parse(at))
}
