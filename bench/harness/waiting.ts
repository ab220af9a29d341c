import { setTimeout as sleep } from 'node:timers/promises'
import { BenchError } from './bench-error.ts'

/** Asks again and again until the answer is yes. Throws BenchError after `withinMs`. */
export async function waitUntil(
  what: string,
  check: () => boolean | Promise<boolean>,
  { withinMs, everyMs = 20 }: { withinMs: number; everyMs?: number },
): Promise<void> {
  const deadline = performance.now() + withinMs
  while (!(await check())) {
    if (performance.now() > deadline) throw new BenchError(`${what}: not within ${withinMs / 1000} s`)
    await sleep(everyMs)
  }
}

export { sleep }
