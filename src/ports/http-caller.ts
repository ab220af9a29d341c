import type { CallTimings, FailureReason, Method } from '../domain/jobs/job.ts'
import type { TeamSettings } from './settings.ts'

export interface HttpCall {
  readonly team: string
  /** Egress policy and signing secrets in force for this call. */
  readonly settings: TeamSettings
  readonly url: string
  readonly method: Method
  /** The caller's headers; ours and the signature are added by the caller adapter. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
  /** Texts to look for in the first 256 KiB of the response body. */
  readonly sought: readonly string[]
  /** One deadline over DNS, connect, TLS, headers and body. */
  readonly timeoutMs: number
  /** `webhook-id`: the same for every attempt of a chain. */
  readonly webhookId: string
  /** Unix seconds by Redis time. */
  readonly timestampSeconds: number
  /** X-Punctual-* identity headers, without the prefix: `Job-Id`, `Attempt`, `Fencing-Token`. */
  readonly identity: Readonly<Record<string, string>>
}

/** What went out and came back. `timings` lacks the queue wait, which only the executor knows. */
export type HttpCallResult = {
  readonly durationMs: number
  readonly timings: Omit<CallTimings, 'queueWaitMs'>
  /** As sent, ours included. */
  readonly requestHeaders: ReadonlyArray<readonly [string, string]>
} & (
  | {
      readonly kind: 'answered'
      readonly status: number
      readonly headers: ReadonlyArray<readonly [string, string]>
      /** The first 16 KiB. */
      readonly body: Uint8Array
      /** Whether the body went on after what is in `body`. */
      readonly bodyTruncated: boolean
      /** Those of the texts looked for that the body holds. */
      readonly found: ReadonlySet<string>
    }
  | {
      readonly kind: 'failed'
      readonly reason: FailureReason
      /** For people; constant for a blocked target: no address in it. */
      readonly message: string
    }
  /** A fault of the whole machine (no file descriptors, no memory): no attempt is burnt. The adapter logs it. */
  | { readonly kind: 'local_fault'; readonly message: string }
  /** `signal` was aborted by us. */
  | { readonly kind: 'aborted' }
)

/** The only way out by HTTP. Never throws for anything a target does. */
export interface HttpCaller {
  call(call: HttpCall, signal: AbortSignal): Promise<HttpCallResult>
  close(): Promise<void>
}

/** Egress policy at submit time: the reason a URL is refused, or null. Looks at literals and names only, no DNS. */
export interface EgressPolicy {
  refusalOf(url: URL, settings: TeamSettings): 'blocked' | null
}
