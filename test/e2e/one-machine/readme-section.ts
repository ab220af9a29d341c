import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const README = readFileSync(join(import.meta.dirname, '../../../README.md'), 'utf8')
const [, SECTION = ''] = /^## Without a checkout$(.*?)^## /ms.exec(README) ?? []

/** The `sh` blocks of the README's section that begin with these words, in order. */
export function readmeBlocks(words: string): string[] {
  const blocks = [...SECTION.matchAll(/^```sh\n(.*?)^```/gms)].map(([, text = '']) => text)
  return blocks.filter((text) => text.startsWith(words))
}
