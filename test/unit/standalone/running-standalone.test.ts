import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openDataFolder } from '../../../src/standalone/data-folder.ts'
import { findRunningStandalone } from '../../../src/standalone/running-standalone.ts'

const URL_TOLD = 'http://127.0.0.1:8123'

let path: string
beforeEach(() => {
  path = mkdtempSync(join(tmpdir(), 'punctual-running-'))
})
afterEach(() => rmSync(path, { recursive: true, force: true }))

function open(token: string | null = null) {
  return openDataFolder({ path, token, secretsKey: null })
}

test('a standalone is found once it listens, with its token, until it ends', () => {
  const folder = open()
  expect(findRunningStandalone(path)).toBeNull()
  folder.announce(URL_TOLD)
  expect(findRunningStandalone(path)).toEqual({ url: URL_TOLD, token: folder.token })
  folder.close()
  expect(findRunningStandalone(path)).toBeNull()
})

test('one that was given its token keeps none', () => {
  const folder = open('a-token-of-the-settings')
  folder.announce(URL_TOLD)
  expect(findRunningStandalone(path)).toEqual({ url: URL_TOLD, token: null })
  folder.close()
})

test('what a killed one has left behind is not followed', async () => {
  const child = spawn('true')
  await once(child, 'exit')
  writeFileSync(join(path, 'token'), 'pk_left_behind')
  writeFileSync(join(path, 'lock.json'), JSON.stringify({ pid: child.pid, url: URL_TOLD }))
  expect(findRunningStandalone(path)).toBeNull()
})

test.each(['', '{"pi', '[]', '{"pid":"1","url":"http://a"}', '{"pid":-1,"url":"http://a"}'])(
  'a note that is none (%s) counts as nothing',
  (text) => {
    writeFileSync(join(path, 'lock.json'), text)
    expect(findRunningStandalone(path)).toBeNull()
  },
)

test('a token that cannot be read is none', () => {
  const folder = open()
  folder.announce(URL_TOLD)
  rmSync(join(path, 'token'))
  mkdirSync(join(path, 'token'))
  expect(findRunningStandalone(path)).toEqual({ url: URL_TOLD, token: null })
  folder.close()
})

test('a folder that is not there holds nothing', () => {
  expect(findRunningStandalone(join(path, 'absent'))).toBeNull()
})
