import type { Engine } from '../base/engine/engine.ts'

/** Reads fields of many hashes, in the order asked; all at once, with one command per hash. */
export async function readFields(
  engine: Engine,
  wanted: ReadonlyArray<{ readonly key: string; readonly field: string }>,
): Promise<Array<string | null>> {
  const byKey = Map.groupBy(wanted.keys(), (i) => wanted[i]?.key ?? '')
  const values = Array.from<string | null>({ length: wanted.length }).fill(null)
  await engine.runner.read((redis) =>
    Promise.all(
      [...byKey].map(async ([key, indexes]) => {
        const found = await redis.hmget(key, ...indexes.map((i) => wanted[i]?.field ?? ''))
        indexes.forEach((i, nth) => (values[i] = found[nth] ?? null))
      }),
    ),
  )
  return values
}
