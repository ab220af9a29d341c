import { dirname, join, normalize, posix } from 'node:path'
import GithubSlugger from 'github-slugger'
import { Marked, type Token, type Tokens } from 'marked'
import type { Page } from './pages.ts'

export interface Heading {
  readonly depth: number
  readonly text: string
  readonly id: string
}

/** A piece of a page below one heading, as plain text, which the search looks through. */
export interface Section extends Heading {
  readonly content: string
}

export interface Rendered {
  readonly html: string
  /** The title of the page first. */
  readonly sections: readonly Section[]
  /** Where its links within the site lead: a path and an anchor, '' = the page itself. */
  readonly links: readonly SiteLink[]
  /** Pictures and other files that it shows, from the root of the repository. */
  readonly files: readonly string[]
}

export interface SiteLink {
  readonly path: string
  readonly anchor: string
}

interface Place {
  readonly pages: ReadonlySet<string>
  /** Where the repository can be read, with a slash at the end; null = nowhere, so links to its files are plain text. */
  readonly source: string | null
}

/** Files that are no page and that the site has all the same. */
export const FILES: ReadonlySet<string> = new Set(['openapi.yaml', 'compose.yaml', 'LICENSE'])

/** Renders a page; its links to other pages lead to their HTML. */
export function renderMarkdown({ path, text }: Page, { pages, source }: Place): Rendered {
  const slugger = new GithubSlugger()
  const sections: Section[] = []
  const links: SiteLink[] = []
  const files = new Set<string>()
  const marked = new Marked({
    gfm: true,
    renderer: {
      heading({ depth, tokens, text: heading }) {
        const html = this.parser.parseInline(tokens)
        const id = slugger.slug(plain(heading))
        sections.push({ depth, text: plain(heading), id, content: '' })
        return `<h${depth} id="${id}"><a class="anchor" href="#${id}">${html}</a></h${depth}>\n`
      },
      link({ href, title, tokens }) {
        const html = this.parser.parseInline(tokens)
        const target = targetOf(href)
        if (target === null) return html
        const named = title === undefined || title === null ? '' : ` title="${escapeHtml(title)}"`
        return `<a href="${escapeHtml(target)}"${named}>${html}</a>`
      },
      // A wide table moves by itself, and by the keyboard.
      table(token: Tokens.Table) {
        const head = token.header
          .map(({ tokens }) => this.parser.parseInline(tokens))
          // An empty head names nothing.
          .map((html) => (html === '' ? '<td></td>' : `<th>${html}</th>`))
          .join('')
        const rows = token.rows.map(
          (row) =>
            `<tr>${row.map((cell) => `<td>${this.parser.parseInline(cell.tokens)}</td>`).join('')}</tr>`,
        )
        return `<div class="table" tabindex="0" role="group" aria-label="Table"><table><thead><tr>${head}</tr></thead><tbody>${rows.join('\n')}</tbody></table></div>\n`
      },
      code({ text: code, lang = '' }) {
        return `<pre tabindex="0"><code data-language="${escapeHtml(lang.split(' ')[0] ?? '')}">${escapeHtml(code)}\n</code></pre>\n`
      },
    },
  })

  function targetOf(href: string): string | null {
    if (/^[a-z]+:/i.test(href)) return href
    const [file = '', anchor = ''] = href.split('#')
    const whole = file === '' ? path : normalize(join(dirname(path), file))
    const page = pages.has(whole)
      ? whole
      : pages.has(join(whole, 'README.md'))
        ? join(whole, 'README.md')
        : null
    const hash = anchor === '' ? '' : `#${anchor}`
    if (page !== null) {
      links.push({ path: page, anchor })
      return file === '' ? hash : `${relativeTo(path, addressOf(page))}${hash}`
    }
    if (FILES.has(whole)) return relativeTo(path, whole)
    return source === null ? null : `${source}${whole}${hash}`
  }

  const tokens = marked.lexer(text)
  const html = marked.parser(tokens)
  for (const [, file = ''] of html.matchAll(/(?:src|srcset)="([^":]+)"/g)) {
    files.add(normalize(join(dirname(path), file)))
  }
  return { html, sections: withContent(sections, tokens), links, files: [...files] }
}

/** Where a page lies on the site. */
export function addressOf(path: string): string {
  return path === 'README.md' ? 'index.html' : path.replace(/\.md$/, '.html')
}

/** @param from the page that has the link */
export function relativeTo(from: string, to: string): string {
  return posix.relative(posix.dirname(from), to)
}

export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}

/** Text as the anchors of GitHub are made of it: without marks and addresses. */
function plain(markdown: string): string {
  return markdown
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/[`*]/g, '')
    .replaceAll('&quot;', '"')
}

function withContent(sections: readonly Section[], tokens: readonly Token[]): Section[] {
  const contents: string[] = []
  for (const token of tokens) {
    if (token.type === 'heading') contents.push('')
    else if (token.type !== 'space' && token.type !== 'html') {
      contents.push(`${contents.pop() ?? ''} ${plain(token.raw)}`)
    }
  }
  return sections.map((section, i) => ({
    ...section,
    content: (contents[i] ?? '').replaceAll(/(?:[\s|]|-{3,}|```\w*)+/g, ' ').trim(),
  }))
}
