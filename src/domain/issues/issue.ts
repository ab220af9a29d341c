import type { FailureReason } from '../jobs/job.ts'

export const ISSUE_STATES = ['open', 'acknowledged', 'muted', 'resolved'] as const
export type IssueState = (typeof ISSUE_STATES)[number]

/** Changes that a person asks for. */
export type IssueChange = 'acknowledge' | 'mute' | 'resolve' | 'reopen'

/** Failed attempts of one queue or cron that failed alike at the same host. */
export interface IssueGroup {
  /** null together with the host = failures of groups that had no room of their own. */
  readonly failureReason: FailureReason | null
  readonly responseStatus: number | null
  readonly host: string | null
}

export interface IssueHour {
  /** The beginning of the hour, Unix ms. */
  readonly atMs: number
  readonly failed: number
  /** Those that left a dead letter. */
  readonly deadLettered: number
}

export interface Issue extends IssueGroup {
  /** `<queue id>-<hash of the group>`: the same for a group whenever it fails. */
  readonly id: string
  readonly resource: {
    readonly kind: 'queue' | 'cron' | 'team'
    readonly id: number | null
    readonly name: string
  }
  readonly state: IssueState
  /** null unless it is muted. */
  readonly mutedUntilMs: number | null
  readonly firstAtMs: number
  /** Since when it is not resolved, the last time. */
  readonly openedAtMs: number
  readonly lastAtMs: number
  /** The original of the chain that failed last. */
  readonly sampleJobId: number
  /** Hours with failures, oldest first; at most those of ISSUE_DAYS. */
  readonly hours: readonly IssueHour[]
}

/** An issue whose mute is over is open again. */
export function issueStateAt(
  { state, mutedUntilMs }: { readonly state: IssueState; readonly mutedUntilMs: number | null },
  nowMs: number,
): IssueState {
  return state === 'muted' && (mutedUntilMs === null || mutedUntilMs <= nowMs) ? 'open' : state
}

export function failedIn(hours: readonly IssueHour[]): number {
  return hours.reduce((sum, { failed }) => sum + failed, 0)
}

export function deadLetteredIn(hours: readonly IssueHour[]): number {
  return hours.reduce((sum, { deadLettered }) => sum + deadLettered, 0)
}
