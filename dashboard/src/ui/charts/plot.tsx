import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { formatStamp } from '../../format/times.ts'
import { useZone } from '../text/time.tsx'
import type { ChartProps, Line, Series } from './series.ts'
import { nearest, timeTicks, valueTicks } from './chart-scale.ts'
import { Legend } from './legend.tsx'
import { type Span, useSpanChoice } from './span-choice.ts'

/** In pixels, as the margins around the lines. */
const HEIGHT = 180
const [TOP, RIGHT, BOTTOM, LEFT] = [8, 14, 26, 68]
const LINES_MAX = 4
/** Room for the label of a time. */
const LABEL_WIDTH = 90

/** The lines. A span of them is chosen by dragging, or by the arrow keys and Enter, and leads to its jobs. */
export function Plot(props: ChartProps) {
  const { caption, times, stepMs, series, unitMs, hrefOf } = props
  const zone = useZone()
  const { frame, width } = useWidth()
  const [fromMs = 0, toMs = 1] = [times[0], times.at(-1)]
  const spanOf = ({ from, to }: { readonly from: number; readonly to: number }) => ({
    fromMs: times[from] ?? 0,
    toMs: (times[to] ?? 0) + stepMs,
  })
  const choice = useSpanChoice({
    times,
    indexAt: (clientX, element) => {
      const left = clientX - element.getBoundingClientRect().left
      const part = (left - LEFT) / Math.max(1, width - LEFT - RIGHT)
      return nearest(times, fromMs + part * (toMs - fromMs))
    },
    hrefOf: (span) => {
      const { fromMs: from, toMs: to } = spanOf(span)
      return hrefOf(from, to)
    },
  })
  const { span, at } = choice
  const ticks = valueTicks(maxOf(series), LINES_MAX, unitMs)
  const plot: Plane = {
    width,
    x: (ms) => LEFT + ((ms - fromMs) / Math.max(1, toMs - fromMs)) * (width - LEFT - RIGHT),
    y: (value) => HEIGHT - BOTTOM - (value / (ticks.at(-1) ?? 1)) * (HEIGHT - BOTTOM - TOP),
  }
  const time = at === null ? undefined : times[at]
  return (
    <>
      <Legend {...props} span={span} jobs={choice.href} />
      <div
        ref={frame}
        class="chart-frame"
        role="slider"
        tabIndex={0}
        aria-label={`${caption}; arrow keys choose a time, Enter opens its jobs`}
        aria-valuemin={0}
        aria-valuemax={Math.max(0, times.length - 1)}
        aria-valuenow={at ?? Math.max(0, times.length - 1)}
        aria-valuetext={time === undefined ? 'No time is chosen' : formatStamp(time, zone).slice(0, 16)}
        {...choice.listeners}
      >
        {width > 0 && <Drawing {...props} plot={plot} ticks={ticks} span={span} at={at} />}
      </div>
    </>
  )
}

interface DrawingProps extends ChartProps {
  readonly plot: Plane
  readonly ticks: readonly number[]
  /** null = nothing is chosen. */
  readonly span: Span | null
  readonly at: number | null
}

function Drawing({ times, stepMs, series, format, plot, ticks, span, at }: DrawingProps) {
  const zone = useZone()
  const [fromMs = 0, toMs = 1] = [times[0], times.at(-1)]
  const time = at === null ? undefined : times[at]
  return (
    <svg width={plot.width} height={HEIGHT} aria-hidden="true">
      <Axes plot={plot} ticks={ticks} format={format}>
        {timeTicks(fromMs, toMs, Math.floor(plot.width / LABEL_WIDTH), zone).map((tick) => (
          <text key={tick.at} x={plot.x(tick.at)} y={HEIGHT - 6} text-anchor="middle">
            {tick.label}
          </text>
        ))}
      </Axes>
      {span !== null && (
        <Band
          plot={plot}
          fromMs={times[span.from] ?? 0}
          toMs={(times[span.to] ?? 0) + stepMs}
          lastMs={toMs}
        />
      )}
      {series.map(({ label, colour, before }) =>
        before === undefined ? null : (
          <Curve
            key={label}
            plot={plot}
            times={times}
            series={{ colour, values: before.values }}
            at={null}
            isPale
          />
        ),
      )}
      {series.map((one) => (
        <Curve key={one.label} plot={plot} times={times} series={one} at={at} />
      ))}
      {time !== undefined && (
        <line class="chart-cursor" x1={plot.x(time)} x2={plot.x(time)} y1={TOP} y2={HEIGHT - BOTTOM} />
      )}
    </svg>
  )
}

/** Marks the span that is chosen. */
function Band({
  plot,
  fromMs,
  toMs,
  lastMs,
}: {
  readonly plot: Plane
  readonly fromMs: number
  readonly toMs: number
  readonly lastMs: number
}) {
  const [left, right] = [plot.x(fromMs), plot.x(Math.min(toMs, lastMs))]
  return <rect class="chart-span" x={left} y={TOP} width={right - left} height={HEIGHT - BOTTOM - TOP} />
}

/** Maps times and values to pixels. */
interface Plane {
  readonly width: number
  x(ms: number): number
  y(value: number): number
}

function Axes({
  plot,
  ticks,
  format,
  children,
}: {
  readonly plot: Plane
  readonly ticks: readonly number[]
  format(value: number): string
  readonly children: ComponentChildren
}) {
  return (
    <g class="chart-axes">
      {ticks.map((tick) => (
        <g key={tick}>
          <line x1={LEFT} x2={plot.width - RIGHT} y1={plot.y(tick)} y2={plot.y(tick)} />
          <text x={LEFT - 8} y={plot.y(tick) + 4} text-anchor="end">
            {format(tick)}
          </text>
        </g>
      ))}
      {children}
    </g>
  )
}

interface CurveProps {
  readonly plot: Plane
  readonly times: readonly number[]
  readonly series: Pick<Series, 'colour' | 'values' | 'isFilled'>
  readonly at: number | null
  /** It is of the span before. */
  readonly isPale?: boolean
}

function Curve({
  plot,
  times,
  series: { colour, values, isFilled = false },
  at,
  isPale = false,
}: CurveProps) {
  const runs = runsOf(times, values).map((run) =>
    run.map(([ms, value]) => `${plot.x(ms).toFixed(1)} ${plot.y(value).toFixed(1)}`),
  )
  const base = plot.y(0).toFixed(1)
  const areas = runs.map((run) => `M${run.join('L')}V${base}H${run[0]?.split(' ')[0] ?? 0}Z`)
  const [time, value] = at === null ? [] : [times[at], values[at]]
  return (
    <g class={isPale ? 'chart-before' : undefined} style={{ color: `var(${colour})` }}>
      {isFilled && <path class="chart-area" d={areas.join('')} />}
      <path class="chart-line" d={runs.map((run) => `M${run.join('L')}`).join('')} />
      {/* A point between gaps has no line. */}
      {runs.map(([point, next]) => {
        const [cx, cy] = point?.split(' ') ?? []
        return next === undefined && <circle key={point} cx={cx} cy={cy} r="2.5" />
      })}
      {time !== undefined && value !== null && value !== undefined && (
        <circle cx={plot.x(time)} cy={plot.y(value)} r="3.5" />
      )}
    </g>
  )
}

type Point = readonly [ms: number, value: number]

/** Stretches without gaps. */
function runsOf(times: readonly number[], values: Line['values']): Point[][] {
  const runs: Point[][] = [[]]
  for (const [index, time] of times.entries()) {
    const value = values[index] ?? null
    if (value === null) runs.push([])
    else runs.at(-1)?.push([time, value])
  }
  return runs.filter((run) => run.length > 0)
}

function maxOf(series: readonly Series[]): number {
  const lines = series.flatMap(({ values, before }) => [...values, ...(before?.values ?? [])])
  return Math.max(0, ...lines.map((value) => value ?? 0))
}

function useWidth() {
  const frame = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(0)
  useLayoutEffect(() => {
    const element = frame.current
    if (element === null) return undefined
    const observer = new ResizeObserver(() => setWidth(element.clientWidth))
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  return { frame, width }
}
