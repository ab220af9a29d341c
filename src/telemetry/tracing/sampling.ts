import {
  AlwaysOnSampler,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  type Sampler,
} from '@opentelemetry/sdk-trace'
import { isSampled, type TraceContext } from '../../domain/net/trace-context.ts'

export interface SamplingOptions {
  /** The share of traces that is recorded, 0 to 1; where they are parent-based, of those that begin here. */
  readonly ratio: number
  /** A trace that comes from elsewhere is recorded if its caller records it. */
  readonly isParentBased: boolean
}

export interface Sampling {
  /** Tells whether a span below `parent` may be recorded; null = a trace begins. Where it may not, none is started. */
  mayRecord(parent: TraceContext | null): boolean
  /** Decides about the spans that are started. */
  readonly sampler: Sampler
}

/**
 * Decides what is recorded. Parent-based decisions are taken before the SDK is asked: it makes ids and copies attributes
 * first, for each push that is not recorded. Others depend on the trace's id, so that every service decides alike.
 */
export function openSampling({ ratio, isParentBased }: SamplingOptions): Sampling {
  if (!isParentBased) return { mayRecord: () => true, sampler: new TraceIdRatioBasedSampler(ratio) }
  return {
    mayRecord: (parent) => (parent === null ? Math.random() < ratio : isSampled(parent)),
    sampler: new ParentBasedSampler({ root: new AlwaysOnSampler() }),
  }
}
