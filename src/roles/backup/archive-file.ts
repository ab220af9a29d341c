import { randomBytes } from 'node:crypto'
import { createReadStream, existsSync, rmSync } from 'node:fs'
import { link, open, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Writable } from 'node:stream'
import { BackupError, reasonOf, StartupError } from '../../domain/errors.ts'
import { syncFolder } from '../../folder-store/files/atomic-file.ts'
import type { ByteSink } from '../../redis/backup/archive/archive-writer.ts'

/** Bytes that are read of a file at once. */
const READ_BYTES = 1024 ** 2
/** What ends a process that leaves things in order. */
export const SIGNALS = ['SIGINT', 'SIGTERM'] as const
/** How file systems say that none of their files has two names. */
const CODES_WITHOUT_LINKS: ReadonlySet<string> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'])

/** Stands for standard output, or input. */
export const STREAM = '-'

/**
 * Makes a file by `fill`, which is there whole, after `check` has read it, or not at all. For nobody but its owner.
 * @throws StartupError when there is a file of that name, or none can be begun; BackupError when it cannot be gone on with
 */
export async function makeFile(
  path: string,
  fill: (sink: ByteSink) => Promise<void>,
  check: (written: AsyncIterable<Buffer>) => Promise<unknown>,
): Promise<void> {
  if (existsSync(path)) throw isThere(path)
  const draft = join(dirname(path), `.${basename(path)}.${randomBytes(8).toString('hex')}.draft`)
  const dropDraft = (signal: NodeJS.Signals): void => {
    rmSync(draft, { force: true })
    process.kill(process.pid, signal)
  }
  for (const signal of SIGNALS) process.once(signal, dropDraft)
  let hasBegun = false
  try {
    await writeDraft(draft, (sink) => {
      hasBegun = true
      return fill(sink)
    })
    await check(bytesOf(draft))
    await nameDraft(draft, path)
  } catch (error) {
    await rm(draft, { force: true })
    if (!isOfFile(error)) throw error
    const reason = `${path} cannot be written: ${reasonOf(error)}.`
    throw hasBegun ? new BackupError(reason, { cause: error }) : new StartupError(reason)
  } finally {
    for (const signal of SIGNALS) process.off(signal, dropDraft)
  }
  await syncFolder(dirname(path))
}

/** Gives a draft its name, which another file may have got since. @throws StartupError then */
async function nameDraft(draft: string, path: string): Promise<void> {
  try {
    await link(draft, path)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (code === 'EEXIST') throw isThere(path)
    if (!CODES_WITHOUT_LINKS.has(code)) throw error
    if (existsSync(path)) throw isThere(path)
    await rename(draft, path)
    return
  }
  await rm(draft)
}

function isThere(path: string): StartupError {
  return new StartupError(`${path} is there already: name another file.`)
}

/** What a file holds. @throws StartupError when it cannot be read; BackupError when only its beginning can */
export async function* bytesOf(path: string): AsyncGenerator<Buffer, void, void> {
  let hasBegun = false
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: READ_BYTES })) {
      hasBegun = true
      yield chunk as Buffer
    }
  } catch (error) {
    if (!isOfFile(error)) throw error
    const reason = `${path} cannot be read: ${reasonOf(error)}.`
    throw hasBegun ? new BackupError(reason, { cause: error }) : new StartupError(reason)
  }
}

/** Writes to a stream of the process. Whoever reads it may end: then the write fails. */
export function sinkOf(stream: Writable): ByteSink {
  stream.on('error', () => undefined)
  return {
    write: (bytes) =>
      new Promise((resolve, reject) => {
        stream.write(bytes, (error) => {
          if (error) reject(new BackupError(`Standard output cannot be written: ${reasonOf(error)}.`))
          else resolve()
        })
      }),
  }
}

async function writeDraft(draft: string, fill: (sink: ByteSink) => Promise<void>): Promise<void> {
  const file = await open(draft, 'wx', 0o600)
  try {
    await fill({
      write: async (bytes) => {
        for (let at = 0; at < bytes.length;) {
          const { bytesWritten } = await file.write(bytes, at)
          at += bytesWritten
        }
      },
    })
    await file.sync()
  } finally {
    await file.close()
  }
}

function isOfFile(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error && 'code' in error
}
