const LOOK_EVERY_MS = 20
/** Looks cost the machine what others wait for: at most so much of the time already waited may be lost. */
const LATE_SHARE = 0.05
const LOOK_EVERY_MS_MAX = 250
/** Where time is not what is tested: also on a machine ten times as slow. */
const TIMEOUT_MS = 30_000

/** Asks `probe` until it answers something truthy, and answers that; fails loudly at the deadline. */
export async function until<T>(
  what: string,
  probe: () => T | Promise<T>,
  timeoutMs = TIMEOUT_MS,
): Promise<Exclude<T, null | undefined | false | 0 | ''>> {
  const startedAt = performance.now()
  const deadline = startedAt + timeoutMs
  for (;;) {
    const answer = await probe()
    if (answer) return answer as Exclude<T, null | undefined | false | 0 | ''>
    if (performance.now() > deadline) throw new Error(`not within ${timeoutMs} ms: ${what}`)
    const lateMs = (performance.now() - startedAt) * LATE_SHARE
    const pauseMs = Math.min(Math.max(lateMs, LOOK_EVERY_MS), LOOK_EVERY_MS_MAX)
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}
