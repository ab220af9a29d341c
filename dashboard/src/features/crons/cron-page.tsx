import { useRoute } from 'preact-iso'
import { useState } from 'preact/hooks'
import type { Cron } from '../../../../clients/typescript/src/client.ts'
import { isAbsent } from '../../format/faults.ts'
import { useRead } from '../../api/reads.ts'
import { at } from '../../routing/paths.ts'
import { Fault, Loading } from '../../ui/page/empty.tsx'
import { ManagedBadge, ManagedNote, ManifestDialog } from '../../editing/managed.tsx'
import { Figure, Page, Panel } from '../../ui/page/page.tsx'
import { Time } from '../../ui/text/time.tsx'
import { PlaceholderPage } from '../../ui/page/placeholder-page.tsx'
import { formatSeconds } from '../../format/times.ts'
import { capital, formatCount } from '../../format/numbers.ts'
import { CronButtons } from './cron-actions.tsx'
import { EditCronDialog } from './form/cron-dialog.tsx'
import { CronSettings } from './cron-settings.tsx'
import { CronBadge } from './cron-state.tsx'
import './cron-page.css'
import { HeatMap, MeasureChoice } from './heat/heat-map.tsx'
import { AtClockChange, NextRuns } from './times/next-runs.tsx'
import { PausedNotice } from './paused-notice.tsx'
import { RunList } from './run-list.tsx'
import { useMay } from '../../session/me.ts'
import { useUrlQuery } from '../../routing/url-query.ts'
import { whyNoEdit } from '../../editing/managed-text.ts'

const ALL = { label: 'Crons', href: at('/crons') }
/** The server keeps no more. */
const RUNS_MAX = 100
const TIMES_SHOWN = 10

/** One cron: when it runs next, how its runs have been, and its settings. */
export function CronPage() {
  const id = useRoute().params['cron_id'] ?? ''
  // A dialog that is open over one cron is not open over the next.
  return <CronDetails key={id} id={id} />
}

function CronDetails({ id }: { readonly id: string }) {
  const read = useRead('readCron', { cron_id: id })
  const cron = read.data
  const { values, set } = useUrlQuery()
  const mayEdit = useMay('edit')
  const [isManifest, setIsManifest] = useState(false)
  if (cron === undefined || String(cron.id) !== id || isAbsent(read.error)) {
    return (
      <PlaceholderPage query={read} what="cron" icon="cron" all={ALL} why="It was deleted, or never was." />
    )
  }
  return (
    <Page
      title={cron.name}
      crumbs={[ALL]}
      state={
        <>
          <CronBadge cron={cron} />
          <ManagedBadge by={cron.managed_by} />
        </>
      }
      actions={
        <CronButtons
          cron={cron}
          onEdit={() => set({ edit: 'settings' })}
          onShow={() => setIsManifest(true)}
        />
      }
    >
      {!cron.is_active && <PausedNotice cron={cron} />}
      <ManagedNote by={cron.managed_by} onShow={() => setIsManifest(true)} />
      <Figures cron={cron} />
      <div class="cron-columns">
        <Panel isFlush title={cron.is_active ? 'Next runs' : 'When it would run'}>
          <NextRuns schedule={cron} count={TIMES_SHOWN} />
          {cron.jitter_seconds > 0 && (
            <p class="runs-note soft">
              Each starts up to {formatSeconds(cron.jitter_seconds)} later, by the jitter.
            </p>
          )}
        </Panel>
        <div class="stack">
          <CronSettings cron={cron} />
          <AtClockChange schedule={cron} />
        </div>
      </div>
      <Past cron={cron} />
      {values['edit'] === 'settings' && mayEdit && whyNoEdit(cron.managed_by) === null && (
        <EditCronDialog id={cron.id} name={cron.name} onClose={() => set({ edit: null })} />
      )}
      {isManifest && <ManifestDialog kind="cron" id={cron.id} onClose={() => setIsManifest(false)} />}
    </Page>
  )
}

function Past({ cron }: { readonly cron: Cron }) {
  const runs = useRead('listCronRuns', { cron_id: cron.id, limit: RUNS_MAX })
  if (runs.data === undefined) {
    return (
      <Panel>
        {runs.isError ? (
          <Fault fault={runs.error} onRetry={() => void runs.refetch()} />
        ) : (
          <Loading what="its runs" />
        )}
      </Panel>
    )
  }
  return (
    <>
      {runs.data.runs.length > 0 && (
        <Panel
          title={runs.data.runs.length < RUNS_MAX ? 'All ticks so far' : `The last ${RUNS_MAX} ticks`}
          actions={<MeasureChoice />}
        >
          <HeatMap runs={runs.data.runs} />
        </Panel>
      )}
      <RunList runs={runs.data.runs} cronId={cron.id} />
    </>
  )
}

function Figures({ cron }: { readonly cron: Cron }) {
  const { last_run: last, consecutive_failures: failures, alert_threshold: threshold } = cron
  return (
    <div class="figures">
      <Figure name="Next run" note={<Time at={cron.next_run_at} form="stamp" absent="It is paused" />}>
        <Time at={cron.next_run_at} form="exact" />
      </Figure>
      <Figure
        name="Last run"
        note={<Time at={last?.scheduled_at ?? null} absent="It has not run yet" />}
        {...(last?.result === 'failed' && { tone: 'bad' as const })}
        {...(last?.job_id !== null && last !== null && { href: at(`/jobs/${last.job_id}`) })}
      >
        {last === null ? '–' : capital(last.result)}
      </Figure>
      <Figure name="Last success">
        <Time at={cron.last_success_at} absent="never" />
      </Figure>
      <Figure
        name="Failed in a row"
        note={threshold === 1 ? 'Each failure raises an alert' : `${threshold} raise an alert`}
        {...(failures > 0 && { tone: 'bad' as const })}
      >
        {formatCount(failures)}
      </Figure>
    </div>
  )
}
