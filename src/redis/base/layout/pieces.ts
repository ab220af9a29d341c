/** Characters of records that are decoded in one go, some 0.5 ms. */
const PIECE_CHARACTERS = 64 * 1024
/** Cost of a record beside its characters, in characters. */
const RECORD_CHARACTERS = 1024

/**
 * Maps records, and lets everybody else go on after each piece of them: to decode a thousand in one go would hold up pushes and
 * beats of leases.
 */
export async function mapInPieces<T, R>(
  records: readonly T[],
  charactersOf: (record: T, index: number) => number,
  map: (record: T, index: number) => R,
): Promise<R[]> {
  const mapped: R[] = []
  let characters = 0
  for (const [index, record] of records.entries()) {
    if (characters > PIECE_CHARACTERS) {
      await new Promise<void>((resolve) => void setImmediate(resolve))
      characters = 0
    }
    mapped.push(map(record, index))
    characters += RECORD_CHARACTERS + charactersOf(record, index)
  }
  return mapped
}
