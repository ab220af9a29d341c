/** By how much a process may have grown. */
const GROWTH_MAX = 0.05
/** Fewer do not tell growth from noise: half an hour, with one a minute. */
const SAMPLES_MIN = 32

/**
 * Says whether memory has grown: in the last quarter of a run its median is above that of the second quarter. The first one
 * is left out, as caches and pools fill in it and code is compiled; medians, as one collection of garbage more or less is
 * noise. One that has shrunk has nothing that it does not give back.
 *
 * @param samples in the order of time; each was taken at rest
 * @returns a sentence; null: it has not, or the run was too short to say
 */
export function growthOf(name: string, samples: readonly number[]): string | null {
  if (samples.length < SAMPLES_MIN) return null
  const quarter = Math.floor(samples.length / 4)
  const [before, after] = [median(samples.slice(quarter, 2 * quarter)), median(samples.slice(-quarter))]
  if (after <= before * (1 + GROWTH_MAX)) return null
  return `${name} has grown from ${before} to ${after}`
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0
}
