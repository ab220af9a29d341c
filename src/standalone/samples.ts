import { constants, copyFileSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Beside `src` as beside `dist`. */
const SAMPLES_FOLDER = fileURLToPath(new URL('../../config/samples/', import.meta.url))

/**
 * Copies the samples into the folder of resources if it is empty; files whose name begins with a dot do not count.
 * @returns names of the files copied
 */
export function applySamples(
  resourcesFolder: string,
  samplesFolder: string = SAMPLES_FOLDER,
): readonly string[] {
  mkdirSync(resourcesFolder, { recursive: true, mode: 0o700 })
  if (readdirSync(resourcesFolder).some((name) => !name.startsWith('.'))) return []
  const samples = readdirSync(samplesFolder).filter((name) => name.endsWith('.yaml'))
  for (const name of samples) {
    copyFileSync(join(samplesFolder, name), join(resourcesFolder, name), constants.COPYFILE_EXCL)
  }
  return samples
}
