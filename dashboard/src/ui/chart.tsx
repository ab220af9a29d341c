import { useEffect, useRef, useState } from 'preact/hooks'
import uPlot from 'uplot'
import { onColoursChange } from '../preferences/theme.ts'
import { formatStamp } from '../format/times.ts'
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
}

const HEIGHT = 180
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

function Plot({ times, series, format }: ChartProps) {
  const zone = useZone()
  const frame = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | null>(null)
  const [at, setAt] = useState<number | null>(null)
  const shape = series
    .map(({ label, colour, isFilled }) => `${label} ${colour} ${isFilled === true}`)
    .join('|')
  useEffect(() => {
    const element = frame.current
    if (element === null) return undefined
    const draw = (): void => {
      plot.current?.destroy()
      const options = optionsOf(series, { width: element.clientWidth, zone, format, onPoint: setAt })
      plot.current = new uPlot(options, dataOf(times, series), element)
    }
    draw()
    const unsubscribe = onColoursChange(draw)
    const observer = new ResizeObserver(() =>
      plot.current?.setSize({ width: element.clientWidth, height: HEIGHT }),
    )
    observer.observe(element)
    return () => {
      unsubscribe()
      observer.disconnect()
      plot.current?.destroy()
      plot.current = null
    }
    // New values are put into the same plot, below.
  }, [shape, zone])
  useEffect(() => plot.current?.setData(dataOf(times, series)), [times, series])
  const index = at ?? times.length - 1
  const time = times[index]
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
      <div ref={frame} class="chart-frame" aria-hidden="true" />
    </>
  )
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

function dataOf(times: readonly number[], series: readonly Series[]): uPlot.AlignedData {
  return [times.map((ms) => ms / 1_000), ...series.map(({ values }) => [...values])] as uPlot.AlignedData
}

/** A canvas knows no style sheet: colours are read from it, and read again when they change. */
function optionsOf(
  series: readonly Series[],
  given: { width: number; zone: string; format: ChartProps['format']; onPoint(index: number | null): void },
): uPlot.Options {
  const style = getComputedStyle(document.documentElement)
  const axis: uPlot.Axis = {
    stroke: resolved('--text-soft'),
    font: `12px ${style.getPropertyValue('--font')}`,
    grid: { stroke: resolved('--line'), width: 1 },
    ticks: { show: false },
  }
  return {
    width: given.width,
    height: HEIGHT,
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 7 } },
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1_000), given.zone),
    scales: { y: { range: (_plot, _low, high) => [0, high > 0 ? high * 1.1 : 1] } },
    axes: [
      { ...axis, grid: { show: false }, values: TIME_TEXTS },
      { ...axis, size: 64, values: (_plot, values) => values.map((value) => given.format(value)) },
    ],
    series: [
      {},
      ...series.map(({ label, colour, isFilled }) => ({
        label,
        stroke: resolved(colour),
        width: 1.75,
        points: { size: 4, fill: resolved(colour) },
        ...(isFilled === true && { fill: `color-mix(in srgb, ${resolved(colour)} 14%, transparent)` }),
      })),
    ],
    hooks: { setCursor: [({ cursor }) => given.onPoint(cursor.idx ?? null)] },
  }
}

const TIME_TEXTS: uPlot.Axis.Values = [
  [86_400, '{MM}-{DD}', null, null, null, null, null, null, 1],
  [60, '{HH}:{mm}', '\n{MM}-{DD}', null, null, null, null, null, 1],
  [1, '{HH}:{mm}:{ss}', '\n{MM}-{DD}', null, null, null, null, null, 1],
]

/** A custom property may be `light-dark(…)`, which only the style of an element resolves. */
function resolved(property: string): string {
  const probe = document.createElement('i')
  probe.style.color = `var(${property})`
  document.body.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}
