/** Every command of every page is run by a test, or stands in the list of those that are not. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { AnySetting } from '../../src/settings/setting.ts'
import { SETTINGS } from '../../src/settings/table.ts'
import {
  type Block,
  BLOCKS,
  fencedBlocks,
  PAGES,
  readPage,
  scriptOf,
  wayOf,
} from '../support/pages/blocks.ts'
import { RUN_ELSEWHERE } from '../support/pages/run-elsewhere.ts'

const ROOT = join(import.meta.dirname, '../..')

test('there are pages, and blocks of both kinds that are run', () => {
  expect(PAGES).toEqual(
    expect.arrayContaining(['README.md', 'docs/runbooks.md', 'clients/typescript/README.md']),
  )
  const count = (way: string) => BLOCKS.filter((block) => wayOf(block) === way).length
  expect(count('shell')).toBeGreaterThan(70)
  expect(count('cluster')).toBeGreaterThan(30)
})

test('each entry of the list names one block that is there, and a test that is there', () => {
  const matches = RUN_ELSEWHERE.map(({ page, begins }) => [
    `${page}: ${begins}`,
    BLOCKS.filter((block) => block.page === page && block.text.startsWith(begins)).length,
  ])
  expect(matches.filter(([, count]) => count !== 1)).toEqual([])
  const tests = RUN_ELSEWHERE.flatMap((one) => ('by' in one ? [one.by] : []))
  expect(tests.filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
})

test('no block escapes by its language, or by having none', () => {
  const isShell = ({ info }: Block) => /^(?:sh|bash|zsh|fish|shell|console)\b/.test(info)
  const blocks = PAGES.flatMap((page) => fencedBlocks(page))
  expect(blocks.filter((block) => isShell(block) && block.info !== 'sh')).toEqual([])
  const fences = (page: string) => readPage(page).match(/^ *(?:```|~~~)/gm)?.length ?? 0
  expect(PAGES.filter((page) => fences(page) !== 2 * fencedBlocks(page).length)).toEqual([])
})

test('variables that a block sets have values that the program takes', () => {
  const settings: readonly AnySetting[] = Object.values(SETTINGS)
  const given = BLOCKS.flatMap(({ text }) => [...text.matchAll(/\b(PUNCTUAL_[A-Z_]+)=('[^']*'|[^\s$"]+)/g)])
  const refused = given.flatMap(([, variable = '', quoted = '']) => {
    const read = settings.find((one) => one.variable === variable)?.parse(quoted.replaceAll(/^'|'$/g, ''))
    return read?.ok === true ? [] : [`${variable}=${quoted}: ${read?.allowed ?? 'no such setting'}`]
  })
  expect(given.length).toBeGreaterThan(8)
  expect(refused).toEqual([])
})

test('a command keeps the number of its line, without the indentation of its list', () => {
  const page = 'docs/runbooks.md'
  const lines = readPage(page).split('\n')
  const script = scriptOf(page, 'shell').split('\n')
  const at = script.findIndex((line) => line.startsWith('cp -a DIR/'))
  expect(lines[at]).toBe(`   ${script[at]}`)
})
