/** Something the benchmark needs is missing or did not happen; the message says what to do. */
export class BenchError extends Error {}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
