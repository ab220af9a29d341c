import { useState } from 'preact/hooks'
import { formatStamp } from '../../format/times.ts'
import { useZone } from '../text/time.tsx'
import './chart.css'
import { Plot } from './plot.tsx'
import type { ChartProps } from './series.ts'
import { textOf } from './value-text.ts'

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

/** Each time leads to the jobs of its step. */
function Values({ caption, times, stepMs, series, format, hrefOf }: ChartProps) {
  const zone = useZone()
  const lines = series.flatMap((one) => (one.before === undefined ? [one] : [one, one.before]))
  const shown = times.map((time, index) => [time, index] as const).slice(-TABLE_ROWS_MAX)
  return (
    <div class="chart-table">
      <table class="table">
        <caption class="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            <th scope="col">Time</th>
            {lines.map(({ label }) => (
              <th key={label} scope="col" data-align="end">
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.toReversed().map(([time, index]) => (
            <tr key={time}>
              <td>
                <a href={hrefOf(time, time + stepMs)}>{formatStamp(time, zone)}</a>
              </td>
              {lines.map(({ label, values }) => (
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
