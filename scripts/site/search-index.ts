import MiniSearch from 'minisearch'
import { addressOf, type Section } from './markdown.ts'
import { INDEXED } from './indexed.ts'
import type { Page } from './pages.ts'

/** What a search shows of a section is this long at most. */
const EXCERPT_CHARACTERS = 140
/** The index of all sections, as the JSON that MiniSearch loads. */
export function searchIndexOf(
  pages: readonly { readonly page: Page; readonly sections: readonly Section[] }[],
): string {
  const index = new MiniSearch(INDEXED)
  for (const { page, sections } of pages) {
    index.addAll(
      sections.map(({ text, id, depth, content }) => ({
        url: depth === 1 ? addressOf(page.path) : `${addressOf(page.path)}#${id}`,
        title: page.title,
        heading: text,
        content,
        excerpt: content.slice(0, EXCERPT_CHARACTERS),
      })),
    )
  }
  return JSON.stringify(index)
}
