import type { Group, Page } from './pages.ts'

/** The file of https://llmstxt.org: what this is, and where each page is as Markdown. */
export function llmsText(groups: readonly Group[], pages: readonly Page[]): string {
  const readme = pages.find(({ path }) => path === 'README.md')?.text ?? ''
  const [summary = ''] = readme.split('\n').filter((line) => /^[A-Z]/.test(line))
  const titles = new Map(pages.map(({ path, title }) => [path, title]))
  const parts = groups.map(({ title, entries }) => {
    const lines = entries.map(
      ({ path, anchor, label, purpose }) =>
        `- [${anchor === '' ? (titles.get(path) ?? label) : label}](${path}${anchor}): ${purpose}`,
    )
    return `## ${title}\n\n${lines.join('\n')}\n`
  })
  return `# Punctual\n\n> ${summary}\n\n${parts.join('\n')}`
}
