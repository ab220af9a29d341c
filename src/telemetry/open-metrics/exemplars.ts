import { isSampled, spanIdOf, traceIdOf, type TraceContext } from '../../domain/net/trace-context.ts'

/**
 * The newest recorded trace of each bucket of histograms, so that a slow bucket leads to a trace. Owns one short text for
 * each bucket: as many as there are series, whose labels come from closed sets.
 */
export class Exemplars {
  readonly #newest = new Map<string, string>()
  readonly #nowMs: () => number

  /** @param nowMs Unix ms of this machine */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  /**
   * @param bucket the series as its line begins, such as `name_bucket{le="0.5"}`
   * @param value what was observed, in the unit of the histogram
   */
  note(bucket: string, value: number, trace: TraceContext): void {
    if (!isSampled(trace)) return
    const labels = `trace_id="${traceIdOf(trace)}",span_id="${spanIdOf(trace)}"`
    this.#newest.set(bucket, ` # {${labels}} ${value} ${this.#nowMs() / 1000}`)
  }

  /** What follows the value of the bucket's line; '' = nothing. */
  after(bucket: string): string {
    return this.#newest.get(bucket) ?? ''
  }
}
