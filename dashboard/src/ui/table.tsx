import type { ComponentChildren } from 'preact'
import { useLocation } from 'preact-iso'
import { useRef } from 'preact/hooks'
import './table.css'

export interface Column<Row> {
  readonly head: string
  /** `end` for numbers, so that they can be compared. */
  readonly align?: 'end'
  /** Takes what is left of the width, and cuts what does not fit. */
  readonly isWide?: boolean
  /** Left out on narrow screens. */
  readonly isExtra?: boolean
  cell(row: Row): ComponentChildren
}

export interface Selection<Key> {
  readonly chosen: ReadonlySet<Key>
  onChange(chosen: ReadonlySet<Key>): void
}

export interface TableProps<Row, Key extends string | number> {
  /** What the rows are, for screen readers. */
  readonly caption: string
  readonly rows: readonly Row[]
  readonly columns: ReadonlyArray<Column<Row>>
  keyOf(row: Row): Key
  /** The page of a row: Enter and a click anywhere in it lead there. The first column shows it as a link. */
  hrefOf?(row: Row): string
  readonly selection?: Selection<Key>
}

/** Rows that can be walked with `j` and `k`, opened with Enter and chosen with `x`, or from one to another with Shift. */
export function Table<Row, Key extends string | number>(props: TableProps<Row, Key>) {
  const { caption, rows, columns, keyOf, hrefOf, selection } = props
  const { route } = useLocation()
  const keys = rows.map(keyOf)
  const chosenHere = selection === undefined ? [] : keys.filter((key) => selection.chosen.has(key))
  // With Shift, a click chooses what lies between it and the click before.
  const before = useRef<Key | null>(null)
  const choose = (given: readonly Key[], isChosen: boolean): void => {
    const next = new Set(selection?.chosen)
    for (const key of given) {
      if (isChosen) next.add(key)
      else next.delete(key)
    }
    selection?.onChange(next)
  }
  return (
    <div class="table-frame">
      <table class="table">
        <caption class="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            {selection !== undefined && (
              <th class="table-check">
                <input
                  type="checkbox"
                  aria-label="Choose all rows shown"
                  checked={chosenHere.length === keys.length && keys.length > 0}
                  ref={(box) => {
                    if (box !== null)
                      box.indeterminate = chosenHere.length > 0 && chosenHere.length < keys.length
                  }}
                  onChange={(event) => choose(keys, event.currentTarget.checked)}
                />
              </th>
            )}
            {columns.map(({ head, align, isWide, isExtra }) => (
              <th key={head} scope="col" data-align={align} data-wide={isWide} data-extra={isExtra}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody data-rows>
          {rows.map((row, index) => {
            const key = keys[index] as Key
            const href = hrefOf?.(row)
            const isChosen = selection?.chosen.has(key)
            return (
              <tr
                key={key}
                data-href={href}
                aria-selected={isChosen}
                onClick={(event) => {
                  if (href !== undefined && !isOnControl(event)) route(href)
                }}
              >
                {selection !== undefined && (
                  <td class="table-check">
                    <RowBox
                      index={index}
                      isChosen={isChosen === true}
                      onChoose={(toChosen, isRange) => {
                        const from = isRange ? keys.indexOf(before.current as Key) : -1
                        const [first, last] = [Math.min(from, index), Math.max(from, index)]
                        before.current = key
                        choose(from === -1 ? [key] : keys.slice(first, last + 1), toChosen)
                      }}
                    />
                  </td>
                )}
                {columns.map((column, at) => (
                  <td
                    key={column.head}
                    data-align={column.align}
                    data-wide={column.isWide}
                    data-extra={column.isExtra}
                  >
                    {at === 0 && href !== undefined ? (
                      <a href={href}>{column.cell(row)}</a>
                    ) : (
                      column.cell(row)
                    )}
                  </td>
                ))}
              </tr>
            )
          })}
        </tbody>
      </table>
    </div>
  )
}

function RowBox({
  index,
  isChosen,
  onChoose,
}: {
  readonly index: number
  readonly isChosen: boolean
  onChoose(isChosen: boolean, isRange: boolean): void
}) {
  // The event of a change does not say which keys are held.
  const isShift = useRef(false)
  return (
    <input
      type="checkbox"
      aria-label={`Choose row ${index + 1}`}
      checked={isChosen}
      onClick={(event) => {
        isShift.current = event.shiftKey
      }}
      onChange={(event) => onChoose(event.currentTarget.checked, isShift.current)}
    />
  )
}

/** A click that something in the row takes, or that ends a selection of text. */
function isOnControl(event: MouseEvent): boolean {
  if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return true
  if ((event.target as Element).closest('a, button, input, label, summary') !== null) return true
  return window.getSelection()?.isCollapsed === false
}
