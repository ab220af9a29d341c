import type { Actor } from '../../domain/access/audit-record.ts'
import type { Issue, IssueChange, IssueState } from '../../domain/issues/issue.ts'

/** Conditions that all must hold; null = any. */
export interface IssueFilter {
  readonly states: readonly IssueState[] | null
  /** The name of a queue. */
  readonly queue: string | null
}

/** The issues of all shards. Throws StoreUnavailableError. */
export interface IssueStore {
  /** Those that failed last come first. `bad_cursor` when this list with these filters did not make the cursor. */
  list(query: {
    readonly team: string
    readonly filter: IssueFilter
    /** 1–1000. */
    readonly limit: number
    readonly cursor: string | null
  }): Promise<{ readonly issues: readonly Issue[]; readonly nextCursor: string | null } | 'bad_cursor'>
  get(team: string, issueId: string): Promise<Issue | null>
  /** The issue; null when there is none. Repeatable after a fault. */
  change(request: {
    readonly team: string
    readonly issueId: string
    readonly change: IssueChange
    /** When a mute ends, Unix ms; null for other changes. */
    readonly mutedUntilMs: number | null
    readonly actor: Actor
  }): Promise<Issue | null>
}
