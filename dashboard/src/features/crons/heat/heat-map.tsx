import { useMemo } from 'preact/hooks'
import type { CronRun } from '../../../../../clients/typescript/src/client.ts'
import { type UrlQuery, useUrlQuery } from '../../../routing/url-query.ts'
import { formatCompact, formatCount } from '../../../format/numbers.ts'
import { ChoiceBar } from '../../../ui/forms/choice-bar.tsx'
import type { Option } from '../../../ui/forms/field.tsx'
import { useZone } from '../../../ui/text/time.tsx'
import './heat-map.css'
import { type HeatCell, type HeatMap as Map, heatMapOf, levelOf, type Measure } from './heat.ts'

const MEASURES: ReadonlyArray<Option<Measure>> = [
  { value: 'ran', label: 'Runs' },
  { value: 'failed', label: 'Failed' },
  { value: 'idle', label: 'Not run' },
]

/** In pixels: few columns do not fill the width. */
const COLUMN_MAX = 76

/** What the cells count. */
function measureOf({ heat }: UrlQuery['values']): Measure {
  return MEASURES.find(({ value }) => value === heat)?.value ?? 'ran'
}

export function MeasureChoice() {
  const { values, set } = useUrlQuery()
  return (
    <ChoiceBar
      label="What is counted"
      options={MEASURES}
      value={measureOf(values)}
      onChange={(heat) => set({ heat })}
    />
  )
}

/** How often it ran and failed, by the time of the day; a cell shows its records in the list below. */
export function HeatMap({ runs }: { readonly runs: readonly CronRun[] }) {
  const zone = useZone()
  const query = useUrlQuery()
  const measure = measureOf(query.values)
  const map = useMemo(() => heatMapOf(runs, zone), [runs, zone])
  if (map === null) return null
  const max = Math.max(
    1,
    ...map.rows.flatMap((row) =>
      map.columns.map((column) => map.cellOf(row.key, column.key)?.counts[measure] ?? 0),
    ),
  )
  return (
    <div class="heat" data-measure={measure}>
      <div class="table-frame" tabIndex={0} role="region" aria-label="Runs by time">
        <table
          class="heat-map"
          data-wide={map.isWide}
          style={{ maxWidth: `${map.columns.length * COLUMN_MAX}px` }}
        >
          <caption class="visually-hidden">Runs by time, in {zone}</caption>
          <Head columns={map.columns} />
          <tbody>
            {map.rows.map((row) => (
              <tr key={row.key}>
                <th scope="row">{row.label}</th>
                {map.columns.map(({ key }) => (
                  <td key={key}>
                    <Cell
                      cell={map.cellOf(row.key, key)}
                      at={`${row.key} ${key}`}
                      measure={measure}
                      max={max}
                      query={query}
                    />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <Legend measure={measure} max={max} zone={zone} />
    </div>
  )
}

function Head({ columns }: { readonly columns: Map['columns'] }) {
  return (
    <thead>
      <tr>
        <td />
        {columns.map(({ key, label }) => (
          <th key={key} scope="col" aria-label={key}>
            <span>{label}</span>
          </th>
        ))}
      </tr>
    </thead>
  )
}

interface CellProps {
  readonly cell: HeatCell | undefined
  /** Its row and column. */
  readonly at: string
  readonly measure: Measure
  readonly max: number
  readonly query: UrlQuery
}

function Cell({ cell, at, measure, max, query }: CellProps) {
  if (cell === undefined) return <i class="heat-cell" />
  const { since, until, counts } = cell
  const count = counts[measure]
  const isChosen = query.values['since'] === since && query.values['until'] === until
  const told = `${at}: ${formatCount(counts.ran)} ran, ${formatCount(counts.failed)} failed, ${formatCount(counts.idle)} not run`
  const hasTrouble = measure === 'ran' && (counts.failed > 0 || counts.idle > 0)
  return (
    <button
      type="button"
      class="heat-cell number"
      data-level={levelOf(count, max)}
      data-trouble={hasTrouble}
      aria-pressed={isChosen}
      aria-label={told}
      title={told}
      onClick={() => query.set(isChosen ? { since: null, until: null } : { since, until })}
    >
      {count > 1 && formatCompact(count)}
    </button>
  )
}

function Legend({ measure, max, zone }: Pick<CellProps, 'measure' | 'max'> & { readonly zone: string }) {
  const steps = [...new Set([1, max / 4, max / 2, max].map(Math.ceil))]
  return (
    <p class="heat-legend">
      <span>Times in {zone}</span>
      {steps.map((count) => (
        <span key={count}>
          <i class="heat-cell" data-level={levelOf(count, max)} /> {formatCount(count)}
        </span>
      ))}
      {measure === 'ran' && (
        <span>
          <i class="heat-cell" data-trouble="true" /> failed or not run
        </span>
      )}
    </p>
  )
}
