import type { ComponentChildren, RefObject } from 'preact'
import { useLocation } from 'preact-iso'
import { useLayoutEffect, useRef } from 'preact/hooks'
import './table.css'

export interface Column<Row> {
  readonly head: string
  /** `end` for numbers, so that they can be compared. */
  readonly align?: 'end'
  /** Takes what is left of the width, and cuts what does not fit. */
  readonly isWide?: boolean
  /** Left out on narrow screens. */
  readonly isExtra?: boolean
  /** Shown on wide screens alone. */
  readonly isSpare?: boolean
  /** Its head puts the rows in the order of this column. */
  readonly order?: Order
  cell(row: Row): ComponentChildren
}

/** An order that the head of a column chooses. */
export interface Order {
  /** The rows stand so; absent = they do not. */
  readonly is?: 'ascending' | 'descending'
  onChoose(): void
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
  hrefOf?(row: Row): string | undefined
  readonly selection?: Selection<Key>
}

/** Rows that can be walked with `j` and `k`, opened with Enter and chosen with `x`, or from one to another with Shift. */
export function Table<Row, Key extends string | number>(props: TableProps<Row, Key>) {
  const { caption, rows, columns, keyOf, hrefOf, selection } = props
  const { route } = useLocation()
  const keys = rows.map(keyOf)
  const { choose, chooseRow } = useChoosing(keys, selection)
  return (
    // Without links in it, the frame itself takes the keys that scroll it.
    <div class="table-frame" ref={useFit()} tabIndex={hrefOf === undefined ? 0 : undefined}>
      <table class="table">
        <caption class="visually-hidden">{caption}</caption>
        <Head
          columns={columns}
          {...(selection !== undefined && {
            chosen: keys.filter((key) => selection.chosen.has(key)).length,
            count: keys.length,
            onChoose: (isChosen: boolean) => choose(keys, isChosen),
          })}
        />
        <tbody data-rows>
          {rows.map((row, index) => {
            const key = keys[index] as Key
            return (
              <Line
                key={key}
                row={row}
                columns={columns}
                href={hrefOf?.(row)}
                onOpen={route}
                isChosen={selection?.chosen.has(key)}
                box={
                  selection !== undefined && (
                    <RowBox
                      index={index}
                      isChosen={selection.chosen.has(key)}
                      onChoose={(isChosen, isRange) => chooseRow(index, isChosen, isRange)}
                    />
                  )
                }
              />
            )
          })}
        </tbody>
      </table>
    </div>
  )
}

/**
 * Says of a frame whether its table fits. One that does not is scrolled sideways, and its head then stays with the frame:
 * only without that can the head stay in sight while the page is scrolled.
 */
function useFit(): RefObject<HTMLDivElement> {
  const ref = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const frame = ref.current
    if (frame === null) return
    const measure = (): void =>
      void frame.toggleAttribute('data-fits', frame.scrollWidth <= frame.clientWidth)
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(frame)
    const table = frame.firstElementChild
    if (table !== null) observer.observe(table)
    return () => observer.disconnect()
  }, [])
  return ref
}

function useChoosing<Key>(keys: readonly Key[], selection: Selection<Key> | undefined) {
  const choose = (given: readonly Key[], isChosen: boolean): void => {
    const next = new Set(selection?.chosen)
    for (const key of given) {
      if (isChosen) next.add(key)
      else next.delete(key)
    }
    selection?.onChange(next)
  }
  // With Shift, a click chooses what lies between it and the click before.
  const before = useRef<Key | null>(null)
  const chooseRow = (index: number, isChosen: boolean, isRange: boolean): void => {
    const from = isRange ? keys.indexOf(before.current as Key) : -1
    before.current = keys[index] ?? null
    const first = from === -1 ? index : Math.min(from, index)
    choose(keys.slice(first, Math.max(from, index) + 1), isChosen)
  }
  return { choose, chooseRow }
}

function Head<Row>({
  columns,
  chosen = 0,
  count = 0,
  onChoose,
}: {
  readonly columns: ReadonlyArray<Column<Row>>
  /** How many of the rows shown are chosen. */
  readonly chosen?: number
  readonly count?: number
  /** Absent = rows cannot be chosen. */
  readonly onChoose?: (isChosen: boolean) => void
}) {
  return (
    <thead>
      <tr>
        {onChoose !== undefined && (
          <th class="table-check">
            <input
              type="checkbox"
              aria-label="Choose all rows shown"
              checked={chosen === count && count > 0}
              ref={(box) => {
                if (box !== null) box.indeterminate = chosen > 0 && chosen < count
              }}
              onChange={(event) => onChoose(event.currentTarget.checked)}
            />
          </th>
        )}
        {columns.map(({ head, align, isWide, isExtra, isSpare, order }) => (
          <th
            key={head}
            scope="col"
            data-align={align}
            data-wide={isWide}
            data-extra={isExtra}
            data-spare={isSpare}
            aria-sort={order?.is}
          >
            {order === undefined ? head : <OrderButton head={head} order={order} />}
          </th>
        ))}
      </tr>
    </thead>
  )
}

function OrderButton({ head, order }: { readonly head: string; readonly order: Order }) {
  return (
    <button type="button" class="table-order" onClick={() => order.onChoose()}>
      {head}
      {order.is !== undefined && <span aria-hidden="true">{order.is === 'descending' ? ' ↓' : ' ↑'}</span>}
    </button>
  )
}

function Line<Row>({
  row,
  columns,
  href,
  onOpen,
  isChosen,
  box,
}: {
  readonly row: Row
  readonly columns: ReadonlyArray<Column<Row>>
  readonly href: string | undefined
  onOpen(href: string): void
  readonly isChosen: boolean | undefined
  readonly box: ComponentChildren
}) {
  return (
    <tr
      data-href={href}
      aria-selected={isChosen}
      onClick={(event) => {
        if (href !== undefined && !isOnControl(event)) onOpen(href)
      }}
    >
      {box !== false && <td class="table-check">{box}</td>}
      {columns.map((column, at) => (
        <td
          key={column.head}
          data-head={column.head}
          data-align={column.align}
          data-wide={column.isWide}
          data-extra={column.isExtra}
          data-spare={column.isSpare}
        >
          {at === 0 && href !== undefined ? <a href={href}>{column.cell(row)}</a> : column.cell(row)}
        </td>
      ))}
    </tr>
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
