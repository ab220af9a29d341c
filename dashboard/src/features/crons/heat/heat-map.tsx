import { useMemo } from 'preact/hooks'
import type { CronRun } from '../../../../../clients/typescript/src/client.ts'
import { type UrlQuery, useUrlQuery } from '../../../app/url-query.ts'
import { formatCompact, formatCount } from '../../../format/numbers.ts'
import { Button } from '../../../ui/button.tsx'
import { useZone } from '../../../ui/time.tsx'
import './heat-map.css'
import { type HeatCell, type HeatMap as Map, heatMapOf, levelOf, type Measure } from './heat.ts'

const MEASURES: ReadonlyArray<readonly [Measure, string]> = [
  ['ran', 'Runs'],
  ['failed', 'Failed'],
  ['idle', 'Not run'],
]

/** In pixels: few columns do not fill the width. */
const COLUMN_MAX = 76

/** What the cells count. */
export function useMeasure(): Measure {
  const { values } = useUrlQuery()
  return MEASURES.find(([name]) => name === values['heat'])?.[0] ?? 'ran'
}

export function MeasureChoice() {
  const { set } = useUrlQuery()
  const chosen = useMeasure()
  return (
    <div class="choice" role="group" aria-label="What is counted">
      {MEASURES.map(([name, label]) => (
        <Button
          key={name}
          look="bare"
          isPressed={name === chosen}
          onClick={() => set({ heat: name === 'ran' ? null : name })}
        >
          {label}
        </Button>
      ))}
    </div>
  )
}

/** How often it ran and failed, by the time of the day; a cell shows its records in the list below. */
export function HeatMap({ runs }: { readonly runs: readonly CronRun[] }) {
  const zone = useZone()
  const measure = useMeasure()
  const query = useUrlQuery()
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
      <div class="table-frame" tabIndex={0} role="region" aria-label="Runs by time" onKeyDown={walk}>
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
                      {...{ measure, max, query }}
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

/** Arrow keys go from cell to cell. */
function walk(event: KeyboardEvent): void {
  const [dx, dy] = STEPS[event.key] ?? [0, 0]
  const from = document.activeElement?.closest('td')
  const row = from?.parentElement
  if (from === null || from === undefined || !(row instanceof HTMLTableRowElement)) return
  if (dx === 0 && dy === 0) return
  event.preventDefault()
  const rows = [...(row.parentElement?.children ?? [])] as HTMLTableRowElement[]
  let [x, y] = [from.cellIndex + dx, rows.indexOf(row) + dy]
  for (; rows[y]?.cells[x] !== undefined; x += dx, y += dy) {
    const button = rows[y]?.cells[x]?.querySelector('button')
    if (button !== null && button !== undefined) return button.focus()
  }
}

const STEPS: Readonly<Record<string, readonly [dx: number, dy: number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
}
