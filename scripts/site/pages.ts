import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

const ROOT = join(import.meta.dirname, '../..')
/** What the site shows, by paths from the root of the repository. */
const PAGES = [
  'README.md',
  'SECURITY.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'docs/**/*.md',
  'clients/*/README.md',
]
/** The page that lists the others, group by group, and the one that lists the how-tos. */
const OVERVIEW = 'docs/README.md'
const HOW_TOS = 'docs/how-to/README.md'
/** Its pages are found from the overview, not from each page. */
const DECISIONS = 'Decisions'

/** A page of Markdown. */
export interface Page {
  /** From the root of the repository, such as `docs/install.md`; the site has it there too, as `.html` beside it. */
  readonly path: string
  readonly title: string
  readonly text: string
}

/** A row of a table of pages: where it leads, and what the page is for. */
export interface Entry {
  readonly path: string
  /** With its `#`; '' = the whole page. */
  readonly anchor: string
  readonly label: string
  readonly purpose: string
}

export interface Group {
  readonly title: string
  readonly entries: readonly Entry[]
}

export function readPages(): Page[] {
  return globSync(PAGES, { cwd: ROOT })
    .sort()
    .map((path) => {
      const text = readFileSync(join(ROOT, path), 'utf8')
      const [, title] = /^# (.+)$/m.exec(text) ?? []
      if (title === undefined) throw new Error(`${path} has no title`)
      return { path, title: title.replaceAll('`', ''), text }
    })
}

/** The groups of the overview, with the how-tos behind the first. */
export function groupsOf(pages: readonly Page[]): Group[] {
  const [first, ...others] = sectionsOf(textOf(pages, OVERVIEW))
    .map(({ title, text }) => ({ title, entries: entriesOf(text, OVERVIEW) }))
    .filter(({ title, entries }) => title !== DECISIONS && entries.length > 0)
  if (first === undefined) throw new Error(`${OVERVIEW} lists no pages`)
  const howTos = { title: 'How to', entries: entriesOf(textOf(pages, HOW_TOS), HOW_TOS) }
  return [first, howTos, ...others]
}

function textOf(pages: readonly Page[], path: string): string {
  const page = pages.find((one) => one.path === path)
  if (page === undefined) throw new Error(`${path} is missing`)
  return page.text
}

function sectionsOf(text: string): { readonly title: string; readonly text: string }[] {
  const [, ...sections] = text.split(/^## /m)
  return sections.map((section) => {
    const [title = '', ...lines] = section.split('\n')
    return { title, text: lines.join('\n') }
  })
}

/** The rows with a link, whichever cell it is in; the other cell says what for. */
function entriesOf(text: string, from: string): Entry[] {
  return [...text.matchAll(/^\| (.+?) +\| (.+?) +\|$/gm)].flatMap(([, first = '', second = '']) => {
    const [link, purpose] = first.startsWith('[') ? [first, second] : [second, first]
    const [, label = '', file = '', anchor = ''] = /^\[([^\]]+)\]\(([^)#]*)(#[^)]*)?\)$/.exec(link) ?? []
    if (file === '' && anchor === '') return []
    const path = file === '' ? from : normalize(join(dirname(from), file))
    return [{ path, anchor, label, purpose }]
  })
}
