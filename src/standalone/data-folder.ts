import { createSecretKey, randomBytes } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { StartupError } from '../domain/errors.ts'
import { lockFolder } from './folder-lock.ts'
import { urlOf } from './redis-server/redis-config.ts'
import { rememberedAddress } from './redis-server/redis-address.ts'
import { makeToken, TOKEN_FILE } from './token.ts'

/** The folder with everything a standalone keeps. Owns its lock: only one process has it open. */
export interface DataFolder {
  /** Absolute, links resolved. */
  readonly path: string
  /** Folder in which its Redis keeps its files. */
  readonly redisPath: string
  /** File in which the folder store remembers what it has applied. */
  readonly folderStatePath: string
  /** File that says how far Redis had got, in case it comes back with an older copy of its data. */
  readonly answeredPath: string
  /** The token to accept: the one given, or the one kept here. */
  readonly token: string
  /** The file that holds the token; null when one was given. */
  readonly tokenPath: string | null
  /** AES-256 key for secrets that lie in Redis. */
  readonly secretsKey: KeyObject
  /** Notes where this process listens, for the error of the next one that tries to open the folder. */
  announce(url: string): void
  /** Releases the folder. Idempotent. */
  close(): void
}

export interface DataFolderOptions {
  readonly path: string
  /** Token of the settings; null = generated once and kept here. */
  readonly token: string | null
  readonly secretsKey: KeyObject | null
}

const STATE_FILE = 'folder-state.json'
const SECRETS_KEY_BYTES = 32
const TOKEN_CHARACTERS = /^[\x21-\x7e]{16,256}$/

/**
 * Creates the folder if it is missing, locks it, and reads or generates its token and key (mode 0600).
 * An existing folder keeps its permissions: it may be somebody's home.
 * @throws StartupError when the folder cannot be written, is in use, or holds a token or key that cannot be used
 */
export function openDataFolder(options: DataFolderOptions): DataFolder {
  const path = makeFolder(options.path)
  const lock = guarded(path, () => lockFolder(path))
  try {
    return guarded(path, () => {
      const redisPath = join(path, 'redis')
      mkdirSync(redisPath, { recursive: true, mode: 0o700 })
      const tokenPath = options.token === null ? join(path, TOKEN_FILE) : null
      return Object.freeze({
        path,
        redisPath,
        folderStatePath: join(path, STATE_FILE),
        answeredPath: join(path, 'answered.json'),
        token: tokenPath === null ? (options.token ?? '') : keptToken(tokenPath),
        tokenPath,
        secretsKey: options.secretsKey ?? keptKey(join(path, 'key')),
        announce: (url: string) => lock.announce(url),
        close: () => lock.release(),
      })
    })
  } catch (error) {
    lock.release()
    throw error
  }
}

/**
 * The data folder of an API that keeps a folder of resources: what it has applied, and the lock.
 * @throws StartupError as `openDataFolder` does
 */
export function openStateFolder(path: string): Pick<DataFolder, 'folderStatePath' | 'announce' | 'close'> {
  const folder = makeFolder(path)
  const lock = guarded(folder, () => lockFolder(folder))
  return Object.freeze({
    folderStatePath: join(folder, STATE_FILE),
    announce: (url: string) => lock.announce(url),
    close: () => lock.release(),
  })
}

/**
 * The part of an existing folder that its Redis keeps, for who fills it while no standalone runs; token and key stay as
 * they are. @throws StartupError when the folder is in use, or not there
 */
export function openRedisFolder(path: string): Pick<DataFolder, 'redisPath' | 'close'> {
  return guarded(path, () => {
    const folder = realpathSync(path)
    const lock = lockFolder(folder)
    const redisPath = join(folder, 'redis')
    mkdirSync(redisPath, { recursive: true, mode: 0o700 })
    return Object.freeze({ redisPath, close: () => lock.release() })
  })
}

/** Reads the folder from beside a running standalone: creates, locks and changes nothing. */
export function readDataFolder(path: string): {
  /** URL of its Redis; null when it has not been started yet. */
  readonly redisUrl: string | null
  readonly secretsKey: KeyObject | null
} {
  return guarded(path, () => {
    const keyPath = join(path, 'key')
    const key = readIfThere(keyPath)
    const address = existsSync(join(path, 'redis'))
      ? rememberedAddress(join(realpathSync(path), 'redis'))
      : null
    return {
      redisUrl: address === null ? null : urlOf(address),
      secretsKey: key === null ? null : keyIn(key.trim(), keyPath),
    }
  })
}

function makeFolder(path: string): string {
  return guarded(path, () => {
    mkdirSync(path, { recursive: true, mode: 0o700 })
    return realpathSync(path)
  })
}

/** Turns file system errors into one line that says what to do. */
function guarded<T>(path: string, run: () => T): T {
  try {
    return run()
  } catch (error) {
    if (error instanceof StartupError) throw error
    const reason = error instanceof Error ? error.message : String(error)
    const text = `The data folder ${path} cannot be used (${reason}): make it writable, or set PUNCTUAL_DATA_DIR to another folder.`
    throw new StartupError(text, { cause: error })
  }
}

function keptToken(path: string): string {
  const token = keptText(path, makeToken)
  if (TOKEN_CHARACTERS.test(token)) return token
  throw new StartupError(
    `The token in ${path} must be 16 to 256 visible ASCII characters: mend it, or remove the file to have a new one made.`,
  )
}

function keptKey(path: string): KeyObject {
  return keyIn(
    keptText(path, () => randomBytes(SECRETS_KEY_BYTES).toString('base64')),
    path,
  )
}

function keyIn(text: string, path: string): KeyObject {
  const bytes = Buffer.from(text, 'base64')
  if (bytes.length === SECRETS_KEY_BYTES && bytes.toString('base64') === text) return createSecretKey(bytes)
  throw new StartupError(
    `The key in ${path} must be 32 bytes in base64: put the right one back, or remove the file to have a new one made (secrets stored with the old key are then read again from the resources).`,
  )
}

/** The text in the file, which is generated if there is none. Readable by this user only. */
function keptText(path: string, make: () => string): string {
  const kept = readIfThere(path)
  if (kept !== null) {
    chmodSync(path, 0o600)
    return kept.trim()
  }
  const text = make()
  writeWhole(path, `${text}\n`)
  return text
}

function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
}

/** A crash leaves either the old file or the complete new one. The lock keeps others out, so the draft's name is fixed. */
function writeWhole(path: string, text: string): void {
  const draft = `${path}.new`
  const file = openSync(draft, 'w', 0o600)
  try {
    writeSync(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(draft, path)
}
