import type { QueueRow } from '../../../../clients/typescript/src/client.ts'
import { formatCount, plural } from '../../format/numbers.ts'
import './hour-spark.css'

const HEIGHT = 20
const BAR = 6
const STEP = 8

/** What ended in the last hour, a bar for each five minutes, with what failed at its foot. */
export function HourSpark({
  hour: {
    ended,
    failed,
    trend: { ended: all, failed: bad },
  },
}: {
  readonly hour: QueueRow['last_hour']
}) {
  if (ended === 0) return <span class="soft">–</span>
  const most = Math.max(...all)
  // A single job is seen, too.
  const heightOf = (count: number): number =>
    count === 0 ? 0 : Math.max(2, Math.round((count / most) * HEIGHT))
  return (
    <svg
      class="hour-spark"
      role="img"
      aria-label={`${plural(ended, 'job')} ended in the last hour, ${formatCount(failed)} failed`}
      width={all.length * STEP - (STEP - BAR)}
      height={HEIGHT}
    >
      {all.flatMap((count, at) =>
        [
          { part: 'ended', height: heightOf(count) },
          { part: 'failed', height: heightOf(bad[at] ?? 0) },
        ].map(({ part, height }) => (
          <rect
            key={`${at} ${part}`}
            data-part={part}
            x={at * STEP}
            y={HEIGHT - height}
            width={BAR}
            height={height}
          />
        )),
      )}
    </svg>
  )
}
