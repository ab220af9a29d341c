const LOOK_EVERY_MS = 20

/** Asks `probe` until it answers something truthy, and answers that; fails loudly at the deadline. */
export async function until<T>(
  what: string,
  probe: () => T | Promise<T>,
  timeoutMs = 15_000,
): Promise<Exclude<T, null | undefined | false | 0 | ''>> {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    const answer = await probe()
    if (answer) return answer as Exclude<T, null | undefined | false | 0 | ''>
    if (performance.now() > deadline) throw new Error(`not within ${timeoutMs} ms: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
  }
}
