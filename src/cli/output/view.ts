import { columns, printable, shortTime } from './text-table.ts'

/** What a text for people has to fit into. */
export interface Screen {
  /** Whether there is to be all that has room on a wide screen only. */
  readonly isWide: boolean
  /** To which tables keep; null = whole cells, whatever they take. */
  readonly width: number | null
}

/** Shows an answer. */
export interface View<Body> {
  /** The text for people. */
  text(body: Body, screen: Screen): string
  /** What `-o name` prints, such as `job/16`. */
  names(body: Body): readonly string[]
  /** Tells people that a list is empty, such as `No queues.`; null = the answer is no empty list. */
  emptyText?(body: Body): string | null
}

export interface Column<Item> {
  readonly head: string
  readonly cell: (item: Item) => string
  /** Only `-o wide` shows this column. */
  readonly isWide?: true
  /** Says most about an item, and is shortened last. */
  readonly isMain?: true
}

interface ListForm<Body, Item> {
  /** Precedes the id in a name, such as `job`. */
  readonly kind: string
  /** What several items are called; the kind with an s by default. */
  readonly plural?: string
  readonly items: (body: Body) => readonly Item[]
  readonly id: (item: Item) => string | number
  readonly columns: readonly Column<Item>[]
}

/**
 * Shows one line per item and then how to get the next page, or nothing for an empty list. Times are cut to the second
 * unless there is room.
 */
export function listView<Body extends object, Item>(form: ListForm<Body, Item>): View<Body> {
  const { kind, items, id, plural = `${kind.replaceAll('-', ' ')}s` } = form
  // A search may end a page before it has found anything.
  const isEmpty = (body: Body): boolean => items(body).length === 0 && moreLine(body) === ''
  return {
    text: (body, { isWide, width }) => {
      if (isEmpty(body)) return ''
      const shown = form.columns.filter((column) => isWide || column.isWide !== true)
      const textOf = (text: string): string => (isWide ? text : shortTime(text))
      const rows = items(body).map((item) => shown.map(({ cell }) => textOf(cell(item))))
      const main = shown.findIndex(({ isMain }) => isMain === true)
      const table = columns([shown.map(({ head }) => head), ...rows], { max: width, main })
      return printable(`${table}\n${moreLine(body)}`)
    },
    names: (body) => items(body).map((item) => `${kind}/${id(item)}`),
    emptyText: (body) => (isEmpty(body) ? `No ${plural}.` : null),
  }
}

interface ItemForm<Item> {
  readonly kind: string
  readonly id: (item: Item) => string | number
  /** The lines about one item. */
  readonly lines: (item: Item, screen: Screen) => readonly string[]
}

/** Shows one thing on a page of its own. */
export function itemView<Item>({ kind, id, lines }: ItemForm<Item>): View<Item> {
  return {
    text: (item, screen) => printable(`${lines(item, screen).join('\n')}\n`),
    names: (item) => [`${kind}/${id(item)}`],
  }
}

/** Shows one thing and, if there is room, below it the version that `edit --if-match` takes. */
export function withVersionLine<Item>(view: View<Item>): View<Item & { readonly version: string | null }> {
  return {
    names: (item) => view.names(item),
    text: (item, screen) =>
      `${view.text(item, screen)}${screen.isWide ? printable(`version ${item.version ?? '-'}\n`) : ''}`,
  }
}

/** Shows an answer that has no id, such as a count. */
export function factView<Body>(lines: (body: Body) => readonly string[]): View<Body> {
  return { text: (body) => printable(`${lines(body).join('\n')}\n`), names: () => [] }
}

function moreLine(body: object): string {
  const cursor = 'next_cursor' in body ? body.next_cursor : null
  return typeof cursor === 'string' ? `next page: --cursor ${cursor}\n` : ''
}
