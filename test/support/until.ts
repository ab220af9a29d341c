const LOOK_EVERY_MS = 20
/** Where time is not what is tested: also on a machine ten times as slow. */
const TIMEOUT_MS = 30_000

/** Asks `probe` until it answers something truthy, and answers that; fails loudly at the deadline. */
export async function until<T>(
  what: string,
  probe: () => T | Promise<T>,
  timeoutMs = TIMEOUT_MS,
): Promise<Exclude<T, null | undefined | false | 0 | ''>> {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    const answer = await probe()
    if (answer) return answer as Exclude<T, null | undefined | false | 0 | ''>
    if (performance.now() > deadline) throw new Error(`not within ${timeoutMs} ms: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
  }
}
