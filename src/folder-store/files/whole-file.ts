import { randomBytes } from 'node:crypto'
import { open, readdir, realpath, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

const DRAFT = /^\..+\.[0-9a-f]{16}\.draft$/

/**
 * Writes a file so that a crash or a reader at any moment finds the old version or the new one, never a part.
 * A link is followed; an existing file keeps its permissions.
 */
export async function writeWhole(path: string, text: string, newMode: number): Promise<void> {
  const target = await realpath(path).catch(() => path)
  const kept = await stat(target).then(
    (stats) => stats.mode & 0o777,
    () => null,
  )
  const folder = dirname(target)
  const draft = join(folder, `.${basename(target)}.${randomBytes(8).toString('hex')}.draft`)
  try {
    const file = await open(draft, 'wx', kept ?? newMode)
    try {
      // The umask took from it what the file had.
      if (kept !== null) await file.chmod(kept)
      await file.writeFile(text)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(draft, target)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
  await syncFolder(folder)
}

/** Makes a rename or a removal last through a power cut. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Drafts of a process that was killed in the middle. */
export async function removeDrafts(folder: string): Promise<void> {
  const names = await readdir(folder)
  await Promise.all(
    names.filter((name) => DRAFT.test(name)).map((name) => rm(join(folder, name), { force: true })),
  )
}
