import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { reasonOf, StartupError } from '../../domain/errors.ts'
import { writeFileAtomically } from './atomic-file.ts'

export const STORE_ID_FILE = '.punctual-store'

const ID = /^[0-9a-f]{32}$/

/**
 * Reads the folder's id, and creates it at the first use. The id tells the folder that filled Redis from another one,
 * such as an empty mount point, whose missing files must not count as deleted.
 * @throws StartupError when the id cannot be created, or the file does not hold one
 */
export async function openStoreId(folder: string): Promise<string> {
  const path = join(folder, STORE_ID_FILE)
  const kept = await readStoreId(folder)
  if (kept !== null) {
    if (ID.test(kept)) return kept
    throw new StartupError(`${path} does not hold a store id: restore the original one, 32 hex digits.`)
  }
  const id = randomBytes(16).toString('hex')
  try {
    await writeFileAtomically(path, `${id}\n`, 0o644)
  } catch (error) {
    throw new StartupError(
      `The manifest folder ${folder} has no store id and none can be written (${reasonOf(error)}): make it writable once, or put a file ${STORE_ID_FILE} with 32 hex digits into it.`,
      { cause: error },
    )
  }
  return id
}

/** null = there is no such file. */
export async function readStoreId(folder: string): Promise<string | null> {
  try {
    return (await readFile(join(folder, STORE_ID_FILE), 'utf8')).trim()
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
}
