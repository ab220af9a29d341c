import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { formatStamp } from '../format/times.ts'
import { nearest, timeTicks, valueTicks } from './chart-scale.ts'
import './chart.css'
import { useZone } from './time.tsx'

export interface Series {
  readonly label: string
  /** A custom property of the style sheet, such as `--good`. */
  readonly colour: string
  /** One for each time; null = nothing was measured. */
  readonly values: ReadonlyArray<number | null>
  /** The area below is filled. */
  readonly isFilled?: boolean
}

export interface ChartProps {
  /** What is shown, for the table and for screen readers. */
  readonly caption: string
  /** Unix ms. */
  readonly times: readonly number[]
  readonly series: readonly Series[]
  /** A value with its unit. */
  format(value: number): string
  /** Where values are durations, how long 1 is. */
  readonly unitMs?: number
}

/** In pixels, as the margins around the lines. */
const HEIGHT = 180
const [TOP, RIGHT, BOTTOM, LEFT] = [8, 14, 26, 68]
const LINES_MAX = 4
/** Room for the label of a time. */
const LABEL_WIDTH = 90
const TABLE_ROWS_MAX = 200

/** Lines over time, with the values under the pointer, and as a table for those who cannot see it. */
export function Chart(props: ChartProps) {
  const [isTable, setIsTable] = useState(false)
  return (
    <figure class="chart">
      <figcaption>
        <span>{props.caption}</span>
        <button type="button" class="link" aria-pressed={isTable} onClick={() => setIsTable(!isTable)}>
          {isTable ? 'As a chart' : 'As a table'}
        </button>
      </figcaption>
      {isTable ? <Values {...props} /> : <Plot {...props} />}
    </figure>
  )
}

function Plot({ times, series, format, unitMs }: ChartProps) {
  const zone = useZone()
  const { frame, width } = useWidth()
  const [at, setAt] = useState<number | null>(null)
  const index = at ?? times.length - 1
  const time = times[index]
  const [fromMs = 0, toMs = 1] = [times[0], times.at(-1)]
  const ticks = valueTicks(maxOf(series), LINES_MAX, unitMs)
  const plot: Plane = {
    width,
    x: (ms) => LEFT + ((ms - fromMs) / Math.max(1, toMs - fromMs)) * (width - LEFT - RIGHT),
    y: (value) => HEIGHT - BOTTOM - (value / (ticks.at(-1) ?? 1)) * (HEIGHT - BOTTOM - TOP),
  }
  return (
    <>
      <ul class="chart-legend number">
        {series.map(({ label, colour, values }) => (
          <li key={label}>
            <i style={{ background: `var(${colour})` }} />
            {label}
            <strong>{textOf(values[index], format)}</strong>
          </li>
        ))}
        {at !== null && time !== undefined && <li class="soft">{formatStamp(time, zone).slice(5, 16)}</li>}
      </ul>
      <div
        ref={frame}
        class="chart-frame"
        aria-hidden="true"
        onPointerMove={(event) => {
          const left = event.clientX - event.currentTarget.getBoundingClientRect().left
          const part = (left - LEFT) / Math.max(1, width - LEFT - RIGHT)
          setAt(nearest(times, fromMs + part * (toMs - fromMs)))
        }}
        onPointerLeave={() => setAt(null)}
      >
        {width > 0 && (
          <svg width={width} height={HEIGHT}>
            <Axes plot={plot} ticks={ticks} format={format}>
              {timeTicks(fromMs, toMs, Math.floor(width / LABEL_WIDTH), zone).map((tick) => (
                <text key={tick.at} x={plot.x(tick.at)} y={HEIGHT - 6} text-anchor="middle">
                  {tick.label}
                </text>
              ))}
            </Axes>
            {series.map((one) => (
              <Line key={one.label} plot={plot} times={times} series={one} at={at} />
            ))}
            {at !== null && time !== undefined && (
              <line class="chart-cursor" x1={plot.x(time)} x2={plot.x(time)} y1={TOP} y2={HEIGHT - BOTTOM} />
            )}
          </svg>
        )}
      </div>
    </>
  )
}

/** Where times and values are, in pixels. */
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

interface LineProps {
  readonly plot: Plane
  readonly times: readonly number[]
  readonly series: Series
  readonly at: number | null
}

function Line({ plot, times, series: { colour, values, isFilled = false }, at }: LineProps) {
  const runs = runsOf(times, values).map((run) =>
    run.map(([ms, value]) => `${plot.x(ms).toFixed(1)} ${plot.y(value).toFixed(1)}`),
  )
  const base = plot.y(0).toFixed(1)
  const areas = runs.map((run) => `M${run.join('L')}V${base}H${run[0]?.split(' ')[0] ?? 0}Z`)
  const [time, value] = at === null ? [] : [times[at], values[at]]
  return (
    <g style={{ color: `var(${colour})` }}>
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
function runsOf(times: readonly number[], values: Series['values']): Point[][] {
  const runs: Point[][] = [[]]
  for (const [index, time] of times.entries()) {
    const value = values[index] ?? null
    if (value === null) runs.push([])
    else runs.at(-1)?.push([time, value])
  }
  return runs.filter((run) => run.length > 0)
}

function maxOf(series: readonly Series[]): number {
  return Math.max(0, ...series.flatMap(({ values }) => values.map((value) => value ?? 0)))
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

function Values({ caption, times, series, format }: ChartProps) {
  const zone = useZone()
  const shown = times.map((time, index) => [time, index] as const).slice(-TABLE_ROWS_MAX)
  return (
    <div class="chart-table">
      <table class="table">
        <caption class="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            <th scope="col">Time</th>
            {series.map(({ label }) => (
              <th key={label} scope="col" data-align="end">
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.toReversed().map(([time, index]) => (
            <tr key={time}>
              <td>{formatStamp(time, zone)}</td>
              {series.map(({ label, values }) => (
                <td key={label} data-align="end">
                  {textOf(values[index], format)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function textOf(value: number | null | undefined, format: ChartProps['format']): string {
  return value === null || value === undefined ? '–' : format(value)
}
