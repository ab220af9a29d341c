import { randomBytes } from 'node:crypto'
import { open, readdir, realpath, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

const DRAFT = /^\..+\.[0-9a-f]{16}\.draft$/

/**
 * Replaces a file by a rename, so that a reader, or a crash at any moment, finds the old version or the new one. Follows a
 * link and keeps the permissions of an existing file.
 */
export async function writeFileAtomically(path: string, text: string, newMode: number): Promise<void> {
  const target = await realpath(path).catch(() => path)
  const mode = await stat(target).then(
    (stats) => stats.mode & 0o777,
    () => null,
  )
  const folder = dirname(target)
  const draft = join(folder, `.${basename(target)}.${randomBytes(8).toString('hex')}.draft`)
  try {
    const file = await open(draft, 'wx', mode ?? newMode)
    try {
      // `open` applies the umask, which the existing file may not follow.
      if (mode !== null) await file.chmod(mode)
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

export async function removeFile(path: string): Promise<void> {
  await rm(path, { force: true })
  await syncFolder(dirname(path))
}

/** Makes a rename or a removal survive a power cut. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Removes the drafts of a process that was killed while it wrote. */
export async function removeDrafts(folder: string): Promise<void> {
  const names = await readdir(folder)
  await Promise.all(
    names.filter((name) => DRAFT.test(name)).map((name) => rm(join(folder, name), { force: true })),
  )
}
