import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** What an API beside no cluster is given: a folder for its resources. Several of one Redis have it in common. */
export interface KeptFolder {
  readonly resources: string
  /** The variables of one more API, whose data folder is its own. */
  env(): Record<string, string>
  remove(): void
}

const kept = new Set<string>()
process.on('exit', () => {
  for (const folder of kept) rmSync(folder, { recursive: true, force: true })
})

export function makeKeptFolder(): KeptFolder {
  const folder = mkdtempSync(join(tmpdir(), 'punctual-kept-'))
  kept.add(folder)
  const resources = join(folder, 'resources')
  let count = 0
  return {
    resources,
    env: () => {
      count += 1
      return { PUNCTUAL_RESOURCES: resources, PUNCTUAL_DATA_DIR: join(folder, `api-${count}`) }
    },
    remove: () => {
      kept.delete(folder)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
