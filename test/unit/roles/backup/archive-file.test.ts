import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { BackupError, StartupError } from '../../../../src/domain/errors.ts'
import { makeFile, sinkOf } from '../../../../src/roles/backup/archive-file.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'punctual-file-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const ignored = async (written: AsyncIterable<Buffer>): Promise<void> => {
  for await (const _ of written);
}

test('a file is there whole, for nobody but its owner', async () => {
  const path = join(folder, 'file')
  await makeFile(path, (sink) => sink.write(Buffer.from('whole')), ignored)
  expect([readdirSync(folder), readFileSync(path, 'utf8')]).toEqual([['file'], 'whole'])
  expect(statSync(path).mode & 0o777).toBe(0o600)
})

test('a file that another program made meanwhile is not overwritten', async () => {
  const path = join(folder, 'file')
  const made = makeFile(
    path,
    (sink) => sink.write(Buffer.from('ours')),
    async (written) => {
      await ignored(written)
      writeFileSync(path, 'of another')
    },
  )
  await expect(made).rejects.toThrow(`${path} is there already: name another file.`)
  expect([readdirSync(folder), readFileSync(path, 'utf8')]).toEqual([['file'], 'of another'])
})

test('a file that cannot be begun is another fault than one that cannot be gone on with', async () => {
  const full = Object.assign(new Error('ENOSPC'), { syscall: 'write', code: 'ENOSPC' })
  const path = join(folder, 'file')
  await expect(makeFile(path, () => Promise.reject(full), ignored)).rejects.toBeInstanceOf(BackupError)
  expect(readdirSync(folder)).toEqual([])
  const nowhere = join(folder, 'not-there', 'file')
  await expect(makeFile(nowhere, async () => undefined, ignored)).rejects.toBeInstanceOf(StartupError)
})

test('a pipe that is closed meanwhile is a fault of the backup', async () => {
  const closed = new Writable({ write: (_chunk, _encoding, done) => done(new Error('EPIPE')) })
  await expect(sinkOf(closed).write(Buffer.from('x'))).rejects.toBeInstanceOf(BackupError)
})
