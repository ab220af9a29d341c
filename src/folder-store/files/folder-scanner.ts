import { open, readdir, stat, type FileHandle } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { reasonOf } from '../../domain/errors.ts'
import type { Content } from './manifest-file.ts'
import { readStoreId } from './store-id.ts'

interface FoundFile {
  readonly content: Content
  /** When the file was created or last changed, whichever is earlier, in Unix ms. */
  readonly madeAtMs: number
}

export type FolderScan =
  /** `isFull`: no further manifest is allowed. */
  | { readonly kind: 'files'; readonly files: ReadonlyMap<string, FoundFile>; readonly isFull: boolean }
  | FolderFault

export type FolderFault =
  /** The folder holds too many files, and only the known ones were read. */
  | { readonly kind: 'overfull'; readonly reason: string; readonly files: ReadonlyMap<string, FoundFile> }
  /** The folder is missing, unreadable or another one, so a missing file does not count as deleted. */
  | { readonly kind: 'unusable'; readonly reason: string }

const EXTENSIONS: ReadonlySet<string> = new Set(['.yaml', '.yml', '.json'])
export const FILES_MAX = 2_000
export const FILE_BYTES_MAX = 1024 * 1024

interface Seen {
  /**
   * Taken from the stat before the read. Two scans with the same signature rule out a change within a tick of the file
   * clock.
   */
  readonly signature: string
  readonly isConfirmed: boolean
  readonly found: FoundFile
}

/**
 * Reads the manifests of a folder, without reading an unchanged one again. Skips sub-folders and names that start with a
 * dot.
 */
export function createFolderScanner(
  folder: string,
  storeId: string,
): (known: ReadonlyMap<string, unknown>) => Promise<FolderScan> {
  let seen: ReadonlyMap<string, Seen> = new Map()
  return async (known) => {
    try {
      if ((await readStoreId(folder)) !== storeId) {
        return { kind: 'unusable', reason: 'does not carry its store id: nothing is changed until it does.' }
      }
      const entries = await readdir(folder, { withFileTypes: true })
      const names = entries
        .filter((entry) => !entry.isDirectory() && isManifestName(entry.name))
        .map((entry) => entry.name)
        .sort()
      const isOverfull = names.length > FILES_MAX
      const next = new Map<string, Seen>()
      for (const name of isOverfull ? names.filter((one) => known.has(one)) : names) {
        const now = await readSeen(join(folder, name), seen.get(name))
        if (now !== null) next.set(name, now)
      }
      seen = next
      const files = new Map([...next].map(([name, { found }]) => [name, found]))
      if (!isOverfull) return { kind: 'files', files, isFull: names.length === FILES_MAX }
      const reason = `holds ${names.length} manifests; at most ${FILES_MAX} are allowed: nothing is changed until some are removed.`
      return { kind: 'overfull', reason, files }
    } catch (error) {
      const reason = `cannot be read (${reasonOf(error)}): nothing is changed until it can.`
      return { kind: 'unusable', reason }
    }
  }
}

export function isManifestName(name: string): boolean {
  return !name.startsWith('.') && EXTENSIONS.has(extname(name).toLowerCase())
}

/** null = there is no file, or a link without a target. */
async function readSeen(path: string, before: Seen | undefined): Promise<Seen | null> {
  try {
    const stats = await stat(path, { bigint: true })
    const signature = [stats.dev, stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs].join(':')
    // Opening a pipe would block forever.
    if (!stats.isFile()) return unreadable('is not a regular file.')
    const isSame = before?.signature === signature
    if (isSame && before.isConfirmed) return before
    const madeAtMs = Number(
      stats.birthtimeMs > 0n && stats.birthtimeMs < stats.mtimeMs ? stats.birthtimeMs : stats.mtimeMs,
    )
    return { signature, isConfirmed: isSame, found: { content: await contentOf(path), madeAtMs } }
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    return unreadable(`cannot be read: ${reasonOf(error)}.`)
  }
}

function unreadable(reason: string): Seen {
  return {
    signature: '',
    isConfirmed: false,
    found: { content: { kind: 'unreadable', reason }, madeAtMs: 0 },
  }
}

async function contentOf(path: string): Promise<Content> {
  const handle = await open(path, 'r')
  try {
    return await textOf(handle)
  } finally {
    await handle.close()
  }
}

async function textOf(handle: FileHandle): Promise<Content> {
  const stats = await handle.stat()
  if (stats.size > FILE_BYTES_MAX) {
    return { kind: 'unreadable', reason: `has ${stats.size} bytes; at most ${FILE_BYTES_MAX} are allowed.` }
  }
  const bytes = await handle.readFile()
  try {
    return { kind: 'text', text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) }
  } catch {
    return { kind: 'unreadable', reason: 'is not UTF-8 text.' }
  }
}
