import { formatStamp } from '../../format/times.ts'
import { useZone } from '../text/time.tsx'
import type { ChartProps } from './series.ts'
import type { Span } from './span-choice.ts'
import { textOf } from './value-text.ts'

interface LegendProps extends Pick<ChartProps, 'series' | 'format' | 'spanText' | 'times' | 'stepMs'> {
  /** null = all of it. */
  readonly span: Span | null
  /** The address of the jobs of the span that was chosen; null = none was. */
  readonly jobs: string | null
}

/** What each line says of the span that is chosen, or of the whole, and which of them that is. */
export function Legend({ series, format, spanText, times, stepMs, span, jobs }: LegendProps) {
  const zone = useZone()
  const ends = span === null ? [] : ([span.from, span.to + 1] as const)
  return (
    <>
      <ul class="chart-legend number">
        {series.map(({ label, colour, over, before }) => [
          <li key={label}>
            <i style={{ background: `var(${colour})` }} />
            {label}
            <strong>{textOf(over(...ends), format)}</strong>
          </li>,
          before !== undefined && (
            <li key={before.label} class="chart-before">
              <i style={{ background: `var(${colour})` }} />
              {before.label}
              <strong>{textOf(before.over(...ends), format)}</strong>
            </li>
          ),
        ])}
      </ul>
      {/* It has a line of its own, so that the chart stays where it is while something is chosen. */}
      <p class="chart-when number">
        {span === null ? spanText : stampOf(span, { times, stepMs, zone })}
        {jobs !== null && <a href={jobs}>Jobs of this time</a>}
      </p>
    </>
  )
}

interface Clock {
  readonly times: readonly number[]
  readonly stepMs: number
  readonly zone: string
}

/** Such as `11-23 14:05`, or `11-23 14:05 to 14:20` for several points. */
function stampOf({ from, to }: Span, { times, stepMs, zone }: Clock): string {
  const [begin, end] = [times[from] ?? 0, (times[to] ?? 0) + stepMs].map((ms) => formatStamp(ms, zone))
  const first = begin?.slice(5, 16) ?? ''
  if (from === to) return first
  return begin?.slice(0, 10) === end?.slice(0, 10)
    ? `${first} to ${end?.slice(11, 16)}`
    : `${first} to ${end?.slice(5, 16)}`
}
