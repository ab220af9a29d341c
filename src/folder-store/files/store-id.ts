import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { StartupError } from '../../domain/errors.ts'
import { writeWhole } from './whole-file.ts'

export const STORE_ID_FILE = '.punctual-store'

const ID = /^[0-9a-f]{32}$/

/**
 * The folder's id, made at its first use. A folder that is not the one Redis was filled from (an empty mount point,
 * a wrong path) is told by it, before its missing files are taken for deleted ones.
 * @throws StartupError when there is none and none can be written, or what is there is not one
 */
export async function openStoreId(folder: string): Promise<string> {
  const path = join(folder, STORE_ID_FILE)
  const kept = await readStoreId(folder)
  if (kept !== null) {
    if (ID.test(kept)) return kept
    throw new StartupError(`${path} does not hold a store id: put the right one back, 32 hex digits.`)
  }
  const id = randomBytes(16).toString('hex')
  try {
    await writeWhole(path, `${id}\n`, 0o644)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new StartupError(
      `The folder of manifests ${folder} has no store id and none can be written (${reason}): make it writable once, or write ${STORE_ID_FILE} with 32 hex digits into it.`,
      { cause: error },
    )
  }
  return id
}

/** Null when there is no such file. */
export async function readStoreId(folder: string): Promise<string | null> {
  try {
    return (await readFile(join(folder, STORE_ID_FILE), 'utf8')).trim()
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
}
