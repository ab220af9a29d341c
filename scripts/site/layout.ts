import { addressOf, escapeHtml, relativeTo, type Section } from './markdown.ts'
import type { Group, Page } from './pages.ts'

/** No script, style, picture or font of another place. */
const POLICY =
  "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'"

interface Shown {
  readonly page: Page
  readonly html: string
  readonly sections: readonly Section[]
  readonly groups: readonly Group[]
  readonly titles: ReadonlyMap<string, string>
  readonly version: string
}

/** The whole of a page, which needs no script to be read. */
export function layOut({ page, html, sections, groups, titles, version }: Shown): string {
  const to = (path: string): string => relativeTo(page.path, path)
  const isFirst = page.path === 'README.md'
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<title>${escapeHtml(isFirst ? 'Punctual' : `${page.title} · Punctual`)}</title>
<link rel="icon" type="image/svg+xml" href="${to('mark.svg')}">
<link rel="stylesheet" href="${to('site.css')}">
<link rel="alternate" type="text/markdown" href="${to(page.path)}">
<script src="${to('page.js')}"></script>
<script type="module" src="${to('search.js')}"></script>
</head>
<body data-root="${rootOf(page.path)}">
<a class="skip" href="#content">Skip to the text</a>
<header>
<a class="name" href="${to('index.html')}">Punctual</a>
<span class="version">${escapeHtml(version)}</span>
<div class="search">
<input type="search" id="search" placeholder="Search" aria-label="Search the documents" autocomplete="off" role="combobox" aria-expanded="false" aria-controls="found">
<ul id="found" role="listbox" aria-label="Found" hidden></ul>
</div>
<button id="theme" type="button" aria-label="Change between dark and light">◐</button>
</header>
<div class="columns">
<nav aria-label="Documents"><details open><summary>Documents</summary>
${groups.map((group) => groupHtml(group, page.path, titles)).join('\n')}
</details></nav>
<main id="content" tabindex="-1">
${html}
<footer><a href="${to(page.path)}">This page as Markdown</a></footer>
</main>
${contentsHtml(sections)}
</div>
</body>
</html>
`
}

/** What leads from a page to the folder of all: '' or `../` for each folder. */
function rootOf(path: string): string {
  return '../'.repeat(path.split('/').length - 1)
}

function groupHtml({ title, entries }: Group, current: string, titles: ReadonlyMap<string, string>): string {
  const items = entries.map(({ path, anchor, label }) => {
    const here = path === current && anchor === '' ? ' aria-current="page"' : ''
    const text = anchor === '' ? (titles.get(path) ?? path) : label
    const href =
      path === current && anchor !== '' ? anchor : `${relativeTo(current, addressOf(path))}${anchor}`
    return `<li><a href="${href}"${here}>${escapeHtml(text)}</a></li>`
  })
  return `<h2>${escapeHtml(title)}</h2><ul>${items.join('')}</ul>`
}

function contentsHtml(sections: readonly Section[]): string {
  const shown = sections.filter(({ depth }) => depth === 2 || depth === 3)
  if (shown.length < 2) return '<aside></aside>'
  const items = shown.map(
    ({ depth, id, text }) => `<li class="depth-${depth}"><a href="#${id}">${escapeHtml(text)}</a></li>`,
  )
  return `<aside aria-label="On this page"><h2>On this page</h2><ul>${items.join('')}</ul></aside>`
}
