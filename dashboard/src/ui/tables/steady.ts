/** Rows as they were shown, with what is new in each of them: none moves, comes or goes. */
export function steadyRows<Row>(
  shown: readonly Row[],
  latest: readonly Row[],
  keyOf: (row: Row) => string | number,
): Row[] {
  const byKey = new Map(latest.map((row) => [keyOf(row), row]))
  return shown.map((row) => byKey.get(keyOf(row)) ?? row)
}

/** How many of the latest rows are not shown. */
export function countNew<Row>(
  shown: readonly Row[],
  latest: readonly Row[],
  keyOf: (row: Row) => string | number,
): number {
  const keys = new Set(shown.map(keyOf))
  return latest.reduce((count, row) => count + (keys.has(keyOf(row)) ? 0 : 1), 0)
}
