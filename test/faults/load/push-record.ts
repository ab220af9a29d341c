import type { PushDraw } from './push-mix.ts'

export interface PushPlan {
  /** Of the API, without a path. */
  readonly url: string
  readonly token: string
  readonly targetUrl: string
  readonly perSecond: number
  /** The number of the first push. */
  readonly firstPush: number
  readonly seed: number
}

/** One sending of a push, a line of the client's log. */
export interface PushRecord {
  readonly draw: PushDraw
  /** Unix ms. */
  readonly sentAtMs: number
  readonly tookMs: number
  /** null: no answer came. */
  readonly status: number | null
  /** Whether the answer has a `Retry-After`. */
  readonly saysWhen: boolean
  /** Of a 201. */
  readonly jobId: number | null
  readonly scheduledAtMs: number | null
}
