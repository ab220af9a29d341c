import type { FailureReason, Method } from '../../domain/jobs/job.ts'
import type { TraceContext } from '../../domain/net/trace-context.ts'

/** A request to the API that pushes jobs. */
export interface TracedRequest {
  /** The context that the request came with; null = none. */
  readonly given: TraceContext | null
  readonly method: string
  /** Its template, such as `/api/jobs`. */
  readonly route: string
  readonly team: string
}

/** The span of a request. It is exported when it has ended. */
export interface RequestSpan {
  readonly context: TraceContext
  /** Begins the span of one job that the request pushes. */
  beginSend(queue: string): SendSpan
  /** Says which job it remakes: a link to that job's trace. */
  link(job: TraceContext): void
  /** @param status null = the client left without a response */
  end(status: number | null): void
}

/** The span of a job's making. A job that was not made leaves it without an end, and nothing is exported. */
export interface SendSpan {
  /** What the job keeps: everything that happens to it is below this span. */
  readonly context: TraceContext
  end(jobId: number): void
}

/** A tick that makes a job. */
export interface TracedTick {
  readonly team: string
  readonly cronId: number
  /** null = the hidden queue of the cron. */
  readonly queue: string | null
  /** In how many milliseconds it is due; negative = since when. */
  readonly dueInMs: number
}

/** A call that begins: an attempt of a job, or a callback. */
export interface TracedCall {
  readonly context: TraceContext
  readonly team: string
  /** null = a callback, or the hidden queue of a cron. */
  readonly queue: string | null
  /** null = a callback. */
  readonly job: { readonly jobId: number; readonly attempt: number } | null
  readonly cronId: number | null
  readonly method: Method
  readonly url: string
  /** From the time it was due to its claim; null = a callback. */
  readonly waitMs: number | null
  /** From its claim to now. */
  readonly heldMs: number
}

export interface CallEnd {
  /** null without a response. */
  readonly status: number | null
  /** null = it succeeded. `released`: it did not count, and the job is ready again. */
  readonly failure: FailureReason | 'released' | null
}

/** The span of a call. It is exported when it has ended. */
export interface CallSpan {
  /** What the target is sent, and a callback of this attempt goes on from. */
  readonly context: TraceContext
  end(end: CallEnd): void
}

/** Records what happens to jobs, for a tracing system. Each answers null where nothing is to be recorded. */
export interface Tracing {
  beginRequest(request: TracedRequest): RequestSpan | null
  /** Begins a trace. */
  beginTick(tick: TracedTick): SendSpan | null
  beginCall(call: TracedCall): CallSpan | null
}

/** Where no endpoint is set: contexts are passed on, and nothing is recorded. */
export const NO_TRACING: Tracing = Object.freeze({
  beginRequest: () => null,
  beginTick: () => null,
  beginCall: () => null,
})
