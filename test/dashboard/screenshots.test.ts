/** The pictures that the documents show: that they are there and are shown. `make screenshots` takes them anew. */
import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import { fileOf, IMAGES, PICTURE_SIZE, PICTURES, THEMES } from './support/shots/pictures.ts'
import { sizeOfPng } from './support/shots/png.ts'

const ROOT = join(import.meta.dirname, '../..')
const BYTES_MAX = 2_500_000
const FILES = Object.keys(PICTURES)
  .flatMap((name) => THEMES.map((theme) => fileOf(name, theme)))
  .toSorted()

test('docs/images has a picture of each screen in both themes, and no other', () => {
  expect(globSync('*', { cwd: IMAGES }).toSorted()).toEqual(FILES)
  const pictures = FILES.map((name) => readFileSync(join(IMAGES, name)))
  expect(pictures.map(sizeOfPng)).toEqual(FILES.map(() => PICTURE_SIZE))
  expect(pictures.reduce((sum, { length }) => sum + length, 0)).toBeLessThan(BYTES_MAX)
})

test('the documents show all of them, and none that is not there', () => {
  const shown = ['README.md', 'docs/dashboard.md']
    .flatMap((page) => [...readFileSync(join(ROOT, page), 'utf8').matchAll(/[\w./-]*images\/[\w-]+\.png/g)])
    .map(([path]) => basename(path))
  expect([...new Set(shown)].toSorted()).toEqual(FILES)
})
