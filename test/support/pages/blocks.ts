/** The `sh` blocks of every page, and what runs each of them. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { RUN_ELSEWHERE } from './run-elsewhere.ts'

const ROOT = join(import.meta.dirname, '../../..')

/** Those that the project publishes. */
export const PAGES: readonly string[] = globSync(
  [
    '*.md',
    'docs/**/*.md',
    'clients/*/*.md',
    'charts/**/*.md',
    'config/**/*.md',
    'crds/**/*.md',
    '.github/**/*.md',
  ],
  { cwd: ROOT },
).sort()

export interface Block {
  readonly page: string
  /** What stands behind the three backticks, such as `sh`. */
  readonly info: string
  /** Of the page, from 1 on, that its first command stands in. */
  readonly line: number
  /** Without the indentation of the list that it may stand in. */
  readonly text: string
}

/** The fenced blocks of a page, of any language, in order. */
export function fencedBlocks(page: string, markdown: string = readPage(page)): Block[] {
  const fences = markdown.matchAll(/^( *)```(\S[^\n]*)\n(.*?)^ *```$/gms)
  return Array.from(fences, ({ 1: indent = '', 2: info = '', 3: text = '', index }) => ({
    page,
    info,
    line: markdown.slice(0, index).split('\n').length + 1,
    text: text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  }))
}

export function readPage(page: string): string {
  return readFileSync(join(ROOT, page), 'utf8')
}

export const BLOCKS: readonly Block[] = PAGES.flatMap((page) => fencedBlocks(page)).filter(
  ({ info }) => info === 'sh',
)

/** `shell` = beside a standalone, `cluster` = with kubectl and helm at an API server. */
export type Way = 'shell' | 'cluster' | 'elsewhere'

export function wayOf(block: Block): Way {
  if (elsewhereOf(block) !== undefined) return 'elsewhere'
  return /\b(?:kubectl|helm) /.test(block.text) && !/\bkubectl-punctual\b/.test(block.text)
    ? 'cluster'
    : 'shell'
}

/** The entry of the list that names the block. */
export function elsewhereOf({ page, text }: Block) {
  return RUN_ELSEWHERE.find((one) => one.page === page && text.startsWith(one.begins))
}

/** The blocks of a page that are run so, as one script, in which a command has the number of its line on the page. */
export function scriptOf(page: string, way: Way): string {
  const lines: (string | undefined)[] = []
  for (const block of BLOCKS.filter((one) => one.page === page && wayOf(one) === way)) {
    block.text
      .trimEnd()
      .split('\n')
      .forEach((text, index) => (lines[block.line + index - 1] = text))
  }
  return Array.from(lines, (line = '') => line).join('\n')
}
