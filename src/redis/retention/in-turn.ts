/** Does it for each, also after one that failed. Throws the first fault when all have had their turn. */
export async function inTurn<T>(items: Iterable<T>, run: (item: T) => Promise<void>): Promise<void> {
  const faults: unknown[] = []
  for (const item of items) {
    try {
      await run(item)
    } catch (error) {
      faults.push(error)
    }
  }
  if (faults.length > 0) throw faults[0]
}
