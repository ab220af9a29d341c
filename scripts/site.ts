/**
 * `make site`: builds the documents as a static site. `node scripts/site.ts [folder] [source]` writes `<folder>/<version>/`
 * beside the versions that are there, and an `index.html` that leads to the newest. `source` is where the repository's
 * files can be read, such as `https://github.com/acme/punctual/blob/v1.2.3/`; without it links to them are plain text.
 * Fails on a link that leads nowhere.
 */
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { build as bundle } from 'vite'
import { layOut } from './site/layout.ts'
import { llmsText } from './site/llms.ts'
import { addressOf, FILES, renderMarkdown, type Rendered } from './site/markdown.ts'
import { groupsOf, type Page, readPages } from './site/pages.ts'
import { searchIndexOf } from './site/search-index.ts'
import { writeVersions } from './site/versions.ts'

const ROOT = join(import.meta.dirname, '..')
const BROWSER = join(import.meta.dirname, 'site/browser')
const [folder = join(ROOT, '.site'), source = null] = process.argv.slice(2)

await build(folder, source)

async function build(to: string, from: string | null): Promise<void> {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }
  const out = join(to, version)
  rmSync(out, { recursive: true, force: true })
  const pages = readPages()
  const paths = new Set(pages.map(({ path }) => path))
  const rendered = pages.map((page) => ({ page, ...renderMarkdown(page, { pages: paths, source: from }) }))
  const broken = brokenLinks(rendered)
  if (broken.length > 0) throw new Error(`links that lead nowhere:\n${broken.join('\n')}`)
  const groups = groupsOf(pages)
  const titles = new Map(pages.map(({ path, title }) => [path, title]))
  for (const one of rendered) {
    write(join(out, addressOf(one.page.path)), layOut({ ...one, groups, titles, version }))
    write(join(out, one.page.path), one.page.text)
  }
  for (const file of new Set([...FILES, ...rendered.flatMap(({ files }) => files)])) {
    cpSync(join(ROOT, file), join(out, file), { recursive: true })
  }
  write(join(out, 'site.css'), `${read('dashboard/src/styles/tokens.css')}\n${read('scripts/site/site.css')}`)
  cpSync(join(ROOT, 'dashboard/public/mark.svg'), join(out, 'mark.svg'))
  await bundleScripts(out)
  write(join(out, 'search-index.json'), searchIndexOf(rendered))
  write(join(out, 'llms.txt'), llmsText(groups, pages))
  writeVersions(to)
  console.log(`${rendered.length} pages in ${out}`)
}

function bundleScripts(out: string): Promise<unknown> {
  return bundle({
    configFile: false,
    logLevel: 'warn',
    build: {
      outDir: out,
      emptyOutDir: false,
      rolldownOptions: {
        input: ['search', 'page'].map((name) => join(BROWSER, `${name}.ts`)),
        output: { entryFileNames: '[name].js' },
      },
    },
  })
}

function brokenLinks(rendered: readonly (Rendered & { readonly page: Page })[]): string[] {
  const anchors = new Map(
    rendered.map(({ page, sections }) => [page.path, new Set(sections.map(({ id }) => id))]),
  )
  return rendered.flatMap(({ page, links }) =>
    links
      .filter(({ path, anchor }) => anchor !== '' && anchors.get(path)?.has(anchor) !== true)
      .map(({ path, anchor }) => `${page.path}: ${path}#${anchor}`),
  )
}

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}
