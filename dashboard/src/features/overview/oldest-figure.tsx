import type { QueueSummary } from '../../../../clients/typescript/src/client.ts'
import { useLiveFigures } from '../../api/live.ts'
import { useRead } from '../../api/reads.ts'
import { formatCount, plural } from '../../format/numbers.ts'
import { formatDuration } from '../../format/times.ts'
import { at } from '../../routing/paths.ts'
import { Figure } from '../../ui/page/page.tsx'
import { toneOfAge } from '../statistics/summary.ts'
import { WORST_QUEUES } from './worst-queues.ts'
import './oldest-figure.css'
import { Verbatim } from '../../ui/text/verbatim.tsx'

/**
 * Shows how long the oldest startable job has waited and in which queue, and how many jobs are stopped.
 * @param counted its age in seconds by the statistics, which count it once a minute; null = there was none
 */
export function OldestFigure({ counted }: { readonly counted: number | null }) {
  const live = useLiveFigures()
  const summary = useRead('listQueues', WORST_QUEUES).data?.summary ?? null
  const read = summary?.oldest_startable ?? null
  const seconds =
    live !== null
      ? live.oldest_startable_seconds
      : summary === null
        ? counted
        : read === null
          ? null
          : Math.floor(read.milliseconds / 1_000)
  const queue = live === null ? read : live.oldest_queue
  // The stream tells whole seconds.
  const exactMs = read !== null && read.queue_id === queue?.queue_id ? read.milliseconds : null
  return (
    <Figure
      name="Oldest startable"
      note={noteOf({ isWaiting: seconds !== null, stopped: summary?.stopped ?? null })}
      tone={toneOfAge(seconds)}
      {...(seconds !== null && queue !== null && { href: at(`/queues/${queue.queue_id}`) })}
    >
      {seconds === null ? 'None' : ageText(seconds, exactMs)}
      {seconds !== null && queue !== null && (
        <span class="figure-queue">
          {' · '}
          <Verbatim text={queue.name} />
        </span>
      )}
    </Figure>
  )
}

function ageText(seconds: number, exactMs: number | null): string {
  if (seconds > 0) return formatDuration(seconds * 1_000)
  return exactMs !== null && exactMs < 1_000 ? formatDuration(exactMs) : '< 1 s'
}

interface Noted {
  readonly isWaiting: boolean
  /** null = not known yet. */
  readonly stopped: QueueSummary['stopped'] | null
}

/** Jobs at the limit of their queue are told apart: that is how it is meant to work, and nobody has stopped them. */
function noteOf({ isWaiting, stopped }: Noted): string {
  if (stopped === null) return isWaiting ? 'It could start now' : 'No job could start'
  const { at_limit: atLimit, ...others } = stopped
  const sums = Object.values(others)
  const jobs = sums.reduce((sum, one) => sum + one.jobs, 0)
  const queues = sums.reduce((sum, one) => sum + one.queues, 0)
  const more = isWaiting ? 'more ' : ''
  const notes = [
    jobs > 0 && `${plural(jobs, `${more}waits`, `${more}wait`)} in ${plural(queues, 'stopped queue')}`,
    atLimit.jobs > 0 && `${formatCount(atLimit.jobs)} at a limit`,
  ].filter((note) => note !== false)
  return notes.length > 0 ? notes.join(', ') : isWaiting ? 'It could start now' : 'No job could start'
}
