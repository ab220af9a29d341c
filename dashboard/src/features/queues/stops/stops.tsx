import type { MaintenanceWindow, Queue, QueueState } from '../../../../../clients/typescript/src/client.ts'
import { useRead } from '../../../api/reads.ts'
import { useWindows } from '../../../api/windows.ts'
import { at } from '../../../routing/paths.ts'
import { textOf } from '../../../format/values/known-values.ts'
import { formatCount, plural } from '../../../format/numbers.ts'
import { Notice } from '../../../ui/text/notice.tsx'
import { Time } from '../../../ui/text/time.tsx'
import { ThrottledNotice } from './throttle.tsx'
import { Verbatim } from '../../../ui/text/verbatim.tsx'

type Stop = QueueState['paused']

/** The windows that are in force for a queue now. */
export function useWindowsOver({ queue_id: id }: Queue): readonly MaintenanceWindow[] {
  const { data } = useWindows()
  return (data?.windows ?? []).filter(
    ({ active, resource }) =>
      active && (resource === null || (resource.kind === 'queue' && resource.id === id)),
  )
}

/** Everything that keeps jobs of a queue from starting or from being pushed. */
export function Stops({
  queue,
  state,
  windows,
}: {
  readonly queue: Queue
  readonly state: QueueState | undefined
  readonly windows: readonly MaintenanceWindow[]
}) {
  const team = useRead('readTeam', {})
  const { is_active: isActive, is_draining: isDraining, counts, max_parallelism: limit } = queue
  const isFull = isActive && limit !== null && counts.processing >= limit && counts.pending > 0
  const calls = team.data?.quotas.calls_in_flight ?? null
  const isTeamFull = calls !== null && (team.data?.usage.calls_in_flight ?? 0) >= calls && counts.pending > 0
  return (
    <>
      {!isActive && <Paused queue={queue} stop={state?.paused ?? null} />}
      <ThrottledNotice queue={queue} />
      {isDraining && <Draining queue={queue} stop={state?.draining ?? null} />}
      {windows.map((window) => (
        <Window key={window.id} window={window} />
      ))}
      {isFull && (
        <Notice icon="queue" tone="busy">
          <strong>At its limit.</strong> {plural(limit, 'call is', 'calls are')} in flight, and{' '}
          {plural(counts.pending, 'ready job waits', 'ready jobs wait')} for one of them to end.
        </Notice>
      )}
      {isTeamFull && (
        <Notice icon="queue" tone="busy">
          <strong>The team is at its limit</strong> of {plural(calls, 'call')} in flight, over all queues.
        </Notice>
      )}
    </>
  )
}

interface StopProps {
  readonly queue: Queue
  readonly stop: Stop
}

function Paused({ queue: { counts }, stop }: StopProps) {
  return (
    <Notice icon="pause" tone="warn">
      <strong>Paused</strong>
      <Who stop={stop} /> {plural(counts.pending, 'ready job waits', 'ready jobs wait')}
      {counts.delayed > 0 && `, ${formatCount(counts.delayed)} more will when they are due`}
      {counts.processing > 0 && `; ${plural(counts.processing, 'call')} in flight will end`}.
    </Notice>
  )
}

function Draining({ queue: { counts }, stop }: StopProps) {
  const left = counts.pending + counts.delayed + counts.processing
  return (
    <Notice icon="down" tone="dead">
      <strong>Draining</strong>
      {stop?.at && ', begun'}
      <Who stop={stop} /> It takes no new jobs;{' '}
      {left === 0 ? 'all it had have ended' : `${plural(left, 'job is', 'jobs are')} left`}.
    </Notice>
  )
}

const WAYS: Readonly<Record<NonNullable<NonNullable<Stop>['via']>, string>> = {
  dashboard: 'in the dashboard',
  api: 'through the API',
  cli: 'on the command line',
  kubectl: 'in its resource',
  folder: 'in its manifest',
}

/** Ends the sentence that was begun. */
function Who({ stop }: { readonly stop: Stop }) {
  if (stop === null) return <>.</>
  const { at: time, by, via, reason } = stop
  if (time === null || via === null) return <>; the audit log does not tell by whom.</>
  return (
    <>
      {' '}
      <Time at={time} form="exact" /> by <Verbatim text={by ?? 'somebody'} /> {textOf(WAYS, via)}
      <Reason text={reason} />
    </>
  )
}

function Reason({ text }: { readonly text: string | null }) {
  return text === null ? (
    <>.</>
  ) : (
    <>
      : “<Verbatim text={text} />”
    </>
  )
}

function Window({ window: { name, action, reason, ends_at: end } }: { readonly window: MaintenanceWindow }) {
  const isHold = action === 'hold'
  return (
    <Notice icon="window" tone={isHold ? 'warn' : 'plain'}>
      <strong>{textOf({ hold: 'Held', mute: 'Alerts are muted' }, action)}</strong> by the window{' '}
      <a href={at('/maintenance')}>{name}</a>
      {end !== null && (
        <>
          , which ends <Time at={end} form="exact" />
        </>
      )}
      <Reason text={reason} />
      {isHold && ' Jobs wait until then, and alerts are muted.'}
    </Notice>
  )
}
