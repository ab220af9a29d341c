import { readFile } from 'node:fs/promises'
import { writeFileAtomically } from '../../folder-store/files/atomic-file.ts'
import { type NotedTimes, OlderCopyWatch } from '../../redis/jobs/losses/older-copy.ts'
import { systemClock } from '../../telemetry/system-clock.ts'
import type { Lifecycle } from '../startup/lifecycle.ts'
import type { Store } from './store.ts'

/** Notes in a file how far Redis has got, and tells if it holds less than that at the start. */
export async function watchOlderCopy(
  { engine }: Pick<Store, 'engine'>,
  path: string,
  lifecycle: Lifecycle,
): Promise<void> {
  const watch = new OlderCopyWatch({
    engine,
    clock: systemClock,
    read: () => readTimes(path),
    write: (times) => writeFileAtomically(path, `${JSON.stringify(times)}\n`, 0o600),
  })
  lifecycle.onStop('watch for an older copy', () => watch.stop())
  await watch.start()
}

/** A file that is not there, or that somebody has damaged, says nothing. */
async function readTimes(path: string): Promise<NotedTimes | null> {
  try {
    const read = JSON.parse(await readFile(path, 'utf8')) as Partial<NotedTimes>
    const { installation, latestMs } = read
    if (typeof installation !== 'string' || !Array.isArray(latestMs)) return null
    return { installation, latestMs: latestMs.map(Number) }
  } catch {
    return null
  }
}
