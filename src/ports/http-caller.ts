import type { CallTimings, FailureReason, Method } from '../domain/jobs/job.ts'
import type { TraceContext } from '../domain/net/trace-context.ts'
import type { TeamSettings } from './settings.ts'

export interface HttpCall {
  readonly team: string
  /** Egress policy and signing secrets for this call. */
  readonly settings: TeamSettings
  readonly url: string
  readonly method: Method
  /** The job's headers; the adapter adds ours and the signature. */
  readonly headers: Readonly<Record<string, string>>
  /** A text is sent in UTF-8; null = none. */
  readonly body: string | Uint8Array | null
  /** Content-Type of a body, unless a header gives it. */
  readonly contentType: string
  /** Texts to search for in the first 256 KiB of the response body. */
  readonly sought: readonly string[]
  /** One deadline for DNS, connect, TLS, headers and body together. */
  readonly timeoutMs: number
  /** `webhook-id`: the same for every attempt of a chain. */
  readonly webhookId: string
  /** Unix seconds by Redis time. */
  readonly timestampSeconds: number
  /** X-Punctual-* identity headers, without the prefix: `Job-Id`, `Attempt`, `Fencing-Token`, `Depth`. */
  readonly identity: Readonly<Record<string, string>>
  /** Sent as `traceparent` and `tracestate`, unless `headers` has one of them; absent = none. */
  readonly trace?: TraceContext
}

/** The call as sent and received. `timings` lacks the queue wait, which only the executor knows. */
export type HttpCallResult = {
  readonly durationMs: number
  readonly timings: Omit<CallTimings, 'queueWaitMs'>
  /** Headers as sent, ours included. */
  readonly requestHeaders: ReadonlyArray<readonly [string, string]>
} & (
  | {
      readonly kind: 'answered'
      readonly status: number
      readonly headers: ReadonlyArray<readonly [string, string]>
      /** The first 16 KiB. */
      readonly body: Uint8Array
      /** Whether the body was longer than `body`. */
      readonly bodyTruncated: boolean
      /** Whether the body ended before its end, or may have. */
      readonly isBodyCutShort: boolean
      /** What HTTP/1.1 does not allow in the response, a sentence each. */
      readonly protocolNotes: readonly string[]
      /** The texts of `sought` that the body contains. */
      readonly found: ReadonlySet<string>
    }
  | {
      readonly kind: 'failed'
      readonly reason: FailureReason
      /** Text for people. Constant for a blocked target: it must not reveal an address. */
      readonly message: string
    }
  /** This machine is out of file descriptors or memory; it does not count as an attempt. The adapter logs it. */
  | { readonly kind: 'local_fault'; readonly message: string }
  /** `signal` was aborted. */
  | { readonly kind: 'aborted' }
)

/** A call that counts as an attempt. */
export type EndedCall = Extract<HttpCallResult, { kind: 'answered' | 'failed' }>

/** The one outbound HTTP client. Never throws for anything a target does. */
export interface HttpCaller {
  call(call: HttpCall, signal: AbortSignal): Promise<HttpCallResult>
  close(): Promise<void>
}

/** How far a team may open targets for itself. */
export interface EgressBounds {
  /** The entries of a team's list that open nothing, because the installation lets teams open nothing of the kind. */
  ineffectiveEntries(egressAllow: readonly string[]): readonly string[]
}

/** Egress policy at submit time: why a URL is refused, or null. Checks literals and names only, no DNS. */
export interface EgressPolicy {
  refusalOf(url: URL, settings: TeamSettings): 'blocked' | null
}
