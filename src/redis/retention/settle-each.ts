/** Runs it for one item after another, even if one fails; throws the first fault at the end. */
export async function settleEach<T>(items: Iterable<T>, run: (item: T) => Promise<void>): Promise<void> {
  const faults: unknown[] = []
  for (const item of items) await run(item).catch((error: unknown) => faults.push(error))
  if (faults.length > 0) throw faults[0]
}
