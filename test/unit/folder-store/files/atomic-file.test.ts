import { chmod, mkdtemp, readdir, readFile, rm, stat, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { writeFileAtomically } from '../../../../src/folder-store/files/atomic-file.ts'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'punctual-atomic-'))
})
afterEach(() => rm(folder, { recursive: true }))

const modeOf = async (path: string) => (await stat(path)).mode & 0o777

test('an existing file keeps its permissions, whatever the umask', async () => {
  const path = join(folder, 'a.yaml')
  await writeFileAtomically(path, 'one', 0o600)
  for (const mode of [0o666, 0o640, 0o777]) {
    await chmod(path, mode)
    await writeFileAtomically(path, 'two', 0o600)
    expect(await modeOf(path)).toBe(mode)
  }
  expect(await readFile(path, 'utf8')).toBe('two')
  expect(await readdir(folder)).toEqual(['a.yaml'])
})

test('a link is followed', async () => {
  await writeFileAtomically(join(folder, 'a.yaml'), 'one', 0o600)
  await symlink('a.yaml', join(folder, 'b.yaml'))
  await writeFileAtomically(join(folder, 'b.yaml'), 'two', 0o644)
  expect(await readFile(join(folder, 'a.yaml'), 'utf8')).toBe('two')
  expect(await modeOf(join(folder, 'a.yaml'))).toBe(0o600)
})
