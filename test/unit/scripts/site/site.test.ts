import { execFileSync } from 'node:child_process'
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import MiniSearch from 'minisearch'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { renderMarkdown } from '../../../../scripts/site/markdown.ts'
import { INDEXED } from '../../../../scripts/site/indexed.ts'

const ROOT = join(import.meta.dirname, '../../../..')
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }

let folder = ''
let built = ''

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'punctual-site-'))
  // Versions of before stay, and one of them is newer than this.
  for (const other of ['0.0.9', '99.10.0', '99.9.0']) {
    mkdirSync(join(folder, other))
    writeFileSync(join(folder, other, 'index.html'), '')
  }
  execFileSync(process.execPath, ['scripts/site.ts', folder], { cwd: ROOT, stdio: 'pipe' })
  built = join(folder, version)
}, 60_000)

afterAll(() => rmSync(folder, { recursive: true, force: true }))

function read(path: string): string {
  return readFileSync(join(built, path), 'utf8')
}

function linksOf(path: string): string[] {
  return [...read(path).matchAll(/ (?:href|src|srcset)="([^"]*)"/g)].map(([, link = '']) => link)
}

describe('the site', () => {
  test('has every page, as HTML and as Markdown', () => {
    const pages = globSync(['*.md', 'docs/**/*.md'], { cwd: ROOT })
    expect(pages.length).toBeGreaterThan(70)
    const missing = pages.filter((path) => !existsSync(join(built, path.replace(/\.md$/, '.html'))))
    expect(missing).toEqual(['README.md'])
    expect(read('index.html')).toContain('<h1 id="punctual">')
    expect(pages.filter((path) => read(path) !== readFileSync(join(ROOT, path), 'utf8'))).toEqual([])
  })

  test('has no link that leads nowhere', () => {
    const pages = globSync('**/*.html', { cwd: built })
    const broken = pages.flatMap((page) =>
      linksOf(page).flatMap((link) => {
        if (/^[a-z]+:/.test(link)) return []
        const [file = '', anchor = ''] = link.split('#')
        const target = file === '' ? page : join(dirname(page), file)
        if (!existsSync(join(built, target))) return [`${page}: ${link}`]
        const isThere = anchor === '' || read(target).includes(` id="${anchor}"`)
        return isThere ? [] : [`${page}: ${link}`]
      }),
    )
    expect(broken).toEqual([])
  })

  test('loads nothing from elsewhere', () => {
    const pages = globSync('**/*.html', { cwd: built })
    const loaded = pages.flatMap((page) =>
      [
        ...read(page).matchAll(/<(?:script|link|img|source|iframe)\b[^>]*?(?:src|href|srcset)="([^"]*)"/g),
      ].map(([, link = '']) => link),
    )
    expect(loaded.length).toBeGreaterThan(300)
    expect(loaded.filter((link) => link.includes(':'))).toEqual([])
  })

  test('finds a section by its words', () => {
    const index = MiniSearch.loadJSON(read('search-index.json'), INDEXED)
    const found = index.search('idempotency key', { prefix: true, combineWith: 'AND' })
    expect(found.map(({ url }) => String(url).split('#')[0])).toContain('docs/reference/api.html')
    for (const { url } of found) {
      const [file = '', anchor = ''] = String(url).split('#')
      expect(anchor === '' || read(file).includes(` id="${anchor}"`), url).toBe(true)
    }
  })

  test('tells a language model where each page is as Markdown', () => {
    const text = read('llms.txt')
    expect(text).toMatch(/^# Punctual\n\n> Punctual sends HTTP requests on time\. /)
    const links = [...text.matchAll(/^- \[[^\]]+\]\(([^)#]+)[^)]*\): .+$/gm)].map(([, link = '']) => link)
    expect(links).toEqual(
      expect.arrayContaining(['README.md', 'docs/install.md', 'docs/how-to/send-webhooks.md']),
    )
    expect(links.filter((link) => !existsSync(join(built, link)))).toEqual([])
  })

  test('leads to the newest of its versions', () => {
    const first = readFileSync(join(folder, 'index.html'), 'utf8')
    expect(first).toContain('url=99.10.0/index.html')
    expect([...first.matchAll(/<li><a href="([^/]+)/g)].map(([, name]) => name)).toEqual([
      '99.10.0',
      '99.9.0',
      version,
      '0.0.9',
    ])
  })
})

describe('a page', () => {
  const pages = new Set(['docs/a.md', 'docs/b/c.md', 'docs/b/README.md', 'README.md'])
  const render = (text: string, source: string | null = null) =>
    renderMarkdown({ path: 'docs/a.md', title: 'A', text }, { pages, source })

  test.each([
    ['[x](b/c.md#two)', '<a href="b/c.html#two">x</a>'],
    ['[x](../README.md)', '<a href="../index.html">x</a>'],
    ['[x](b/)', '<a href="b/README.html">x</a>'],
    ['[x](#here)', '<a href="#here">x</a>'],
    ['[x](https://example.com/?a=1&b=2)', '<a href="https://example.com/?a=1&amp;b=2">x</a>'],
    ['[x](../openapi.yaml)', '<a href="../openapi.yaml">x</a>'],
    ['[`x`](../src/main.ts)', '<code>x</code>'],
  ])('leads %s to its place', (text, html) => {
    expect(render(text).html).toBe(`<p>${html}</p>\n`)
  })

  test('leads to files of the repository where they can be read', () => {
    const { html } = render('[x](../src/main.ts#L3)', 'https://example.com/v1/')
    expect(html).toBe('<p><a href="https://example.com/v1/src/main.ts#L3">x</a></p>\n')
  })

  test('names headings as GitHub does, the second of a name too', () => {
    const { sections } = render('# The `a` of [b](c.md)\n\ntext\n\n## x & y\n\n## x & y\n')
    expect(sections.map(({ id }) => id)).toEqual(['the-a-of-b', 'x--y', 'x--y-1'])
    expect(sections[0]).toMatchObject({ text: 'The a of b', content: 'text' })
  })

  test('shows code as it is', () => {
    const { html } = render('```sh no-run\na < b && "c"\n```\n')
    expect(html).toBe(
      '<pre tabindex="0"><code data-language="sh">a &lt; b &amp;&amp; &quot;c&quot;\n</code></pre>\n',
    )
  })
})
