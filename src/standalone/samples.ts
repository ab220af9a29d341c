import { constants, copyFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { reasonOf, StartupError } from '../domain/errors.ts'

/** Two folders up, from `src/` as from `dist/src/`. */
const SAMPLES_FOLDER = fileURLToPath(new URL('../../config/samples/', import.meta.url))

/**
 * Copies the samples into the folder of resources if it is empty; files whose name begins with a dot do not count.
 * @returns names of the files copied
 * @throws StartupError when they cannot be copied
 */
export function applySamples(
  resourcesFolder: string,
  samplesFolder: string = SAMPLES_FOLDER,
): readonly string[] {
  if (readdirSync(resourcesFolder).some((name) => !name.startsWith('.'))) return []
  const samples = readdirSync(samplesFolder).filter((name) => name.endsWith('.yaml'))
  try {
    for (const name of samples) {
      copyFileSync(join(samplesFolder, name), join(resourcesFolder, name), constants.COPYFILE_EXCL)
    }
  } catch (error) {
    const text = `The samples cannot be put into the empty folder of manifests ${resourcesFolder} (${reasonOf(error)}): make it writable, or put a manifest into it.`
    throw new StartupError(text, { cause: error })
  }
  return samples
}
