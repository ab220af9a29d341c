import { useRoute } from 'preact-iso'
import { useState } from 'preact/hooks'
import type { Bulk } from '../../../../../clients/typescript/src/client.ts'
import { confirming, useChange } from '../../../editing/changes.ts'
import { isAbsent } from '../../../format/faults.ts'
import { useMay } from '../../../session/me.ts'
import { useRead } from '../../../api/reads.ts'
import { at } from '../../../routing/paths.ts'
import { chipsOf, valuesOf } from '../job-filter.ts'
import { capital, formatCount, plural } from '../../../format/numbers.ts'
import { formatDuration } from '../../../format/times.ts'
import { Button, LinkButton } from '../../../ui/button.tsx'
import { Chips } from '../../../ui/tables/chips.tsx'
import { Confirm } from '../../../ui/overlays/dialog.tsx'
import { Fact, Facts, Figure, Page, Panel } from '../../../ui/page/page.tsx'
import { PlaceholderPage } from '../../../ui/page/placeholder-page.tsx'
import { Time, useNow, useZone } from '../../../ui/text/time.tsx'
import { ACTIONS } from './bulk-actions.ts'
import { BulkBadge, isOver } from './bulk-state.tsx'
import { Failures } from './failures.tsx'
import { Outcome } from './progress/outcome.tsx'
import { Progress } from './progress/progress.tsx'
import { Verbatim } from '../../../ui/text/verbatim.tsx'

const ALL = { label: 'Bulk actions', href: at('/bulk') }
const RUNNING_MS = 1_000
const WAITING_MS = 2_000
const OVER_MS = 60_000

/** One bulk: how far it is, and what it could not be done to. */
export function BulkPage() {
  const id = useRoute().params['bulk_id'] ?? ''
  const [everyMs, setEveryMs] = useState(RUNNING_MS)
  const read = useRead('readBulk', { bulk_id: id }, { everyMs })
  const bulk = read.data
  if (bulk !== undefined && pollOf(bulk) !== everyMs) setEveryMs(pollOf(bulk))
  if (bulk === undefined || isAbsent(read.error)) {
    return (
      <PlaceholderPage
        query={read}
        what="bulk action"
        icon="bulk"
        all={ALL}
        why="The last 100 are kept, for 30 days."
      />
    )
  }
  return (
    <Page
      title={`${ACTIONS[bulk.action].verb} ${bulk.is_at_least && !isOver(bulk) ? 'at least ' : ''}${plural(bulk.matched, 'job')}`}
      crumbs={[ALL]}
      state={<BulkBadge bulk={bulk} />}
      actions={<Actions bulk={bulk} />}
    >
      <Panel>
        <Progress bulk={bulk} />
        {bulk.stopped !== null && (
          <p>
            {isOver(bulk) ? 'It has stopped by itself' : 'It is stopping by itself'}: of{' '}
            {plural(bulk.stopped.ended, 'job')} that had ended, {formatCount(bulk.stopped.failed_again)} had
            failed again.
          </p>
        )}
      </Panel>
      <Outcome bulk={bulk} />
      <Figures bulk={bulk} />
      <Panel title="What was asked">
        <Asked bulk={bulk} />
      </Panel>
      <Failures bulk={bulk} />
    </Page>
  )
}

function pollOf(bulk: Bulk): number {
  if (!isOver(bulk)) return RUNNING_MS
  return (bulk.outcome?.waiting ?? 0) > 0 ? WAITING_MS : OVER_MS
}

function Figures({ bulk }: { readonly bulk: Bulk }) {
  const { action, done, skipped, failed } = bulk
  const nowMs = useNow()
  const ranMs =
    bulk.started_at === null
      ? 0
      : (bulk.ended_at === null ? nowMs : Date.parse(bulk.ended_at)) - Date.parse(bulk.started_at)
  // A rate over less than a second says nothing.
  const perSecond = ranMs < 1_000 ? null : (done + skipped + failed) / (ranMs / 1_000)
  return (
    <div class="figures">
      <Figure name={capital(ACTIONS[action].past)}>{formatCount(done)}</Figure>
      <Figure name="Skipped" note="Changed before their turn">
        {formatCount(skipped)}
      </Figure>
      <Figure name="Failed" note="It could not be done to them" {...(failed > 0 && { tone: 'bad' as const })}>
        {formatCount(failed)}
      </Figure>
      <Figure
        name="Jobs a second"
        note={bulk.rate === null ? 'As fast as it goes' : `At most ${formatCount(bulk.rate)}`}
      >
        {perSecond === null
          ? '–'
          : perSecond < 10
            ? perSecond.toFixed(1)
            : formatCount(Math.round(perSecond))}
      </Figure>
      <Figure name={isOver(bulk) ? 'Took' : 'Running for'}>
        {bulk.started_at === null ? '–' : formatDuration(Math.max(0, ranMs))}
      </Figure>
    </div>
  )
}

function Asked({ bulk }: { readonly bulk: Bulk }) {
  const zone = useZone()
  const chips = bulk.filter === null ? [] : chipsOf(valuesOf(bulk.filter), zone)
  return (
    <div class="stack">
      {chips.length > 0 && <Chips chips={chips} />}
      <Facts>
        <Fact name="Jobs">
          {bulk.filter === null
            ? 'Chosen one by one'
            : chips.length === 0
              ? 'All that the action is for'
              : 'All that match these filters'}
        </Fact>
        {bulk.stop_when !== null && (
          <Fact name="Stops by itself">
            When {bulk.stop_when.failed_again_percent} % of at least {formatCount(bulk.stop_when.min ?? 0)}{' '}
            jobs have failed again
          </Fact>
        )}
        <Fact name="By">
          <Verbatim text={bulk.created_by} />
        </Fact>
        <Fact name={bulk.started_at === null ? 'Asked, and waits for an executor' : 'Begun'}>
          <Time at={bulk.started_at ?? bulk.created_at} form="stamp" />
        </Fact>
        <Fact name="Ended">
          <Time at={bulk.ended_at} form="stamp" absent="Not yet" />
        </Fact>
      </Facts>
    </div>
  )
}

function Actions({ bulk }: { readonly bulk: Bulk }) {
  const [isAsking, setIsAsking] = useState(false)
  const mayOperate = useMay('operate')
  const abort = useChange((api) => api.abortBulk({ bulk_id: bulk.id }), {
    said: () => 'The bulk action stops; what was done stays done',
    onDone: () => setIsAsking(false),
    isFaultShown: true,
  })
  const resume = useChange((api) => api.resumeBulk({ bulk_id: bulk.id }), {
    said: () => 'The bulk action goes on with what was left of it',
  })
  const left = Math.max(0, bulk.matched - bulk.done - bulk.skipped - bulk.failed)
  return (
    <>
      {bulk.filter !== null && (
        <LinkButton href={at('/jobs', valuesOf(bulk.filter))} icon="jobs">
          Jobs by this filter
        </LinkButton>
      )}
      {bulk.outcome !== null && bulk.done > 0 && (
        <LinkButton href={at('/jobs', { bulk_id: String(bulk.id) })} icon="jobs">
          Jobs it made
        </LinkButton>
      )}
      {mayOperate && (bulk.state === 'aborted' || bulk.state === 'stopped') && (
        <Button icon="retry" isBusy={resume.isPending} onClick={() => resume.mutate(undefined)}>
          Resume
        </Button>
      )}
      {mayOperate && !isOver(bulk) && (
        <Button
          look="bad"
          icon="stop"
          disabled={bulk.state === 'aborting' && 'It is stopping.'}
          onClick={() => setIsAsking(true)}
        >
          Abort
        </Button>
      )}
      {/* One that has ended meanwhile can no longer be aborted. */}
      {isAsking && !isOver(bulk) && (
        <Confirm
          title="Abort this bulk action?"
          verb="Abort the bulk action"
          {...confirming(abort)}
          onClose={() => setIsAsking(false)}
        >
          <p>
            {plural(left, 'job is', 'jobs are')} left as {left === 1 ? 'it is' : 'they are'}. What was done
            stays done: {plural(bulk.done, 'job')} so far.
          </p>
        </Confirm>
      )}
    </>
  )
}
