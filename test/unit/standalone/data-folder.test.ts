import { createSecretKey } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { StartupError } from '../../../src/domain/errors.ts'
import { openDataFolder } from '../../../src/standalone/data-folder.ts'
import type { DataFolder } from '../../../src/standalone/data-folder.ts'
import { tokenChecksum } from '../../../src/standalone/token.ts'

let base: string
let opened: DataFolder[]

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'punctual-data-'))
  opened = []
})

afterEach(() => {
  for (const folder of opened) folder.close()
  rmSync(base, { recursive: true, force: true })
})

function open(path = join(base, 'data'), given: { token?: string; secretsKey?: Buffer } = {}): DataFolder {
  const folder = openDataFolder({
    path,
    token: given.token ?? null,
    secretsKey: given.secretsKey === undefined ? null : createSecretKey(given.secretsKey),
  })
  opened.push(folder)
  return folder
}

function refusal(run: () => unknown): string {
  try {
    run()
  } catch (error) {
    if (error instanceof StartupError) return error.message
    throw error
  }
  throw new Error('was not refused')
}

const modeOf = (path: string) => statSync(path).mode & 0o777

describe('the folder', () => {
  it('is made for this user only', () => {
    const folder = open(join(base, 'deep', 'data'))
    expect(modeOf(folder.path)).toBe(0o700)
    expect(modeOf(folder.redisPath)).toBe(0o700)
  })

  it('keeps its permissions when it was there before', () => {
    const path = join(base, 'home')
    mkdirSync(path)
    chmodSync(path, 0o755)
    open(path)
    expect(modeOf(path)).toBe(0o755)
  })

  it.each(['file', 'file/below'])('that cannot be made at %s is one clear line', (name) => {
    writeFileSync(join(base, 'file'), '')
    const text = refusal(() => open(join(base, name)))
    expect(text).toContain(`The data folder ${join(base, name)} cannot be used`)
    expect(text).toContain('PUNCTUAL_DATA_DIR')
    expect(text).not.toContain('\n')
  })

  it('that does not let files be made is one clear line', () => {
    const path = join(base, 'data')
    mkdirSync(join(path, 'lock'), { recursive: true })
    expect(refusal(() => open(path))).toMatch(/^The data folder .* cannot be used \(EISDIR.*make it writable/)
  })
})

describe('the lock', () => {
  it('refuses a second start with the process and address of the first', () => {
    const folder = open()
    expect(refusal(() => open())).toContain(`is in use by process ${process.pid}:`)
    folder.announce('http://127.0.0.1:8080')
    const text = refusal(() => open())
    expect(text).toContain(
      `is in use by process ${process.pid} at http://127.0.0.1:8080: stop that one first`,
    )
    expect(text).not.toContain('\n')
  })

  it('still refuses when the note about the holder is torn', () => {
    const folder = open()
    writeFileSync(join(folder.path, 'lock.json'), '{"pi')
    expect(refusal(() => open())).toContain('in use by another process')
  })

  it('is given back by close, which may be called twice', () => {
    const folder = open()
    folder.close()
    folder.close()
    const next = open()
    next.announce('http://next')
    folder.announce('http://gone')
    expect(readFileSync(join(next.path, 'lock.json'), 'utf8')).toContain('http://next')
  })

  it('is given back when the start fails later on', () => {
    const path = join(base, 'data')
    mkdirSync(path)
    writeFileSync(join(path, 'key'), 'not a key')
    refusal(() => open(path))
    rmSync(join(path, 'key'))
    expect(open(path).secretsKey.symmetricKeySize).toBe(32)
  })
})

describe('the token', () => {
  it('is made once, random, with a checksum, and kept with mode 0600', () => {
    const first = open()
    const [, random = '', checksum = ''] = /^pk_([0-9A-Za-z]{32})([0-9A-Za-z]{6})$/.exec(first.token) ?? []
    expect(tokenChecksum(random)).toBe(checksum)
    expect(first.tokenPath).toBe(join(first.path, 'token'))
    expect(modeOf(join(first.path, 'token'))).toBe(0o600)
    first.close()
    expect(open().token).toBe(first.token)
    expect(open(join(base, 'other')).token).not.toBe(first.token)
  })

  it('that was given is used and not written', () => {
    const folder = open(undefined, { token: 'given-token-123456' })
    expect(folder).toMatchObject({ token: 'given-token-123456', tokenPath: null })
    expect(existsSync(join(folder.path, 'token'))).toBe(false)
  })

  it('in a file that others may read is closed to them', () => {
    const path = join(base, 'data')
    mkdirSync(path)
    writeFileSync(join(path, 'token'), 'a-token-of-my-own\n', { mode: 0o644 })
    expect(open(path).token).toBe('a-token-of-my-own')
    expect(modeOf(join(path, 'token'))).toBe(0o600)
  })

  it.each(['', 'short', 'sixteen chars with space'])('%j in the file is refused', (text) => {
    const path = join(base, 'data')
    mkdirSync(path)
    writeFileSync(join(path, 'token'), text)
    expect(refusal(() => open(path))).toContain('must be 16 to 256 visible ASCII characters')
  })
})

describe('the key', () => {
  it('is made once with 32 bytes and kept with mode 0600', () => {
    const first = open()
    first.close()
    const second = open()
    expect(second.secretsKey.equals(first.secretsKey)).toBe(true)
    expect(first.secretsKey.symmetricKeySize).toBe(32)
    expect(modeOf(join(first.path, 'key'))).toBe(0o600)
  })

  it('that was given is used and not written', () => {
    const folder = open(undefined, { secretsKey: Buffer.alloc(32, 1) })
    expect(folder.secretsKey.export()).toEqual(Buffer.alloc(32, 1))
    expect(existsSync(join(folder.path, 'key'))).toBe(false)
  })
})

it('the checksum of a token is its CRC-32 in base 62', () => {
  expect(tokenChecksum('')).toBe('000000')
  expect(tokenChecksum('a')).toBe('4GEHKN')
})
