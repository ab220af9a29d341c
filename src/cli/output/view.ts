import { columns, printable, shortTime } from './text-table.ts'

/** How an answer is shown. */
export interface View<Body> {
  /** For people; `isWide` = with everything that has room on a wide screen. */
  text(body: Body, isWide: boolean): string
  /** What `-o name` prints, such as `job/16`. */
  names(body: Body): readonly string[]
  /** What to tell people instead of a list without items, such as `No queues.`; null of any other. */
  emptyText?(body: Body): string | null
}

export interface Column<Item> {
  readonly head: string
  readonly cell: (item: Item, isWide: boolean) => string
  /** Shown by `-o wide` alone. */
  readonly isWide?: true
}

interface ListForm<Body, Item> {
  /** Precedes ids in names, such as `job`. */
  readonly kind: string
  /** What the items are called (default: the kind with an s). */
  readonly plural?: string
  readonly items: (body: Body) => readonly Item[]
  readonly id: (item: Item) => string | number
  readonly columns: readonly Column<Item>[]
}

/** One line per item, or nothing without any; then how to get the next page. Times are to the second unless there is room. */
export function listView<Body extends object, Item>(form: ListForm<Body, Item>): View<Body> {
  const { kind, items, id, plural = `${kind.replaceAll('-', ' ')}s` } = form
  // A search may end a page before it has found anything.
  const isEmpty = (body: Body): boolean => items(body).length === 0 && moreLine(body) === ''
  return {
    text: (body, isWide) => {
      if (isEmpty(body)) return ''
      const shown = form.columns.filter((column) => isWide || column.isWide !== true)
      const textOf = (text: string): string => printable(isWide ? text : shortTime(text))
      const rows = items(body).map((item) => shown.map(({ cell }) => textOf(cell(item, isWide))))
      return printable(`${columns([shown.map(({ head }) => head), ...rows])}\n${moreLine(body)}`)
    },
    names: (body) => items(body).map((item) => `${kind}/${id(item)}`),
    emptyText: (body) => (isEmpty(body) ? `No ${plural}.` : null),
  }
}

interface ItemForm<Item> {
  readonly kind: string
  readonly id: (item: Item) => string | number
  /** Its lines. */
  readonly lines: (item: Item, isWide: boolean) => readonly string[]
}

/** One thing on a page of its own. */
export function itemView<Item>({ kind, id, lines }: ItemForm<Item>): View<Item> {
  return {
    text: (item, isWide) => printable(`${lines(item, isWide).join('\n')}\n`),
    names: (item) => [`${kind}/${id(item)}`],
  }
}

/** An answer that is no thing with an id, such as a count. */
export function factView<Body>(lines: (body: Body) => readonly string[]): View<Body> {
  return { text: (body) => printable(`${lines(body).join('\n')}\n`), names: () => [] }
}

function moreLine(body: object): string {
  const cursor = 'next_cursor' in body ? body.next_cursor : null
  return typeof cursor === 'string' ? `next page: --cursor ${cursor}\n` : ''
}
