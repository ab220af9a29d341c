import type {
  Actor,
  AuditedResource,
  AuditEntry,
  AuditOutcome,
  AuditRecord,
} from '../../domain/access/audit-record.ts'

/** Conditions that all must hold; null = any. */
export interface AuditFilter {
  /** The name of the actor. */
  readonly actor: Actor['name'] | null
  readonly action: string | null
  readonly resourceKind: AuditedResource['kind'] | null
  /** The resource's id, as text, or its name. */
  readonly resource: string | null
  /** Bounds of the time: includes `afterMs`, excludes `beforeMs`; Unix ms. */
  readonly afterMs: number | null
  readonly beforeMs: number | null
}

export interface AuditQuery {
  readonly team: string
  readonly filter: AuditFilter
  /** 1–1000. */
  readonly limit: number
  /** Cursor of the previous page; null = the first page. */
  readonly cursor: string | null
  /** Asked after each record: true ends the page. Absent = it goes on to its limit. */
  isEnough?(records: readonly AuditRecord[]): boolean
}

/** Writes each record of the audit log to the log of the process as well. */
export interface AuditLines {
  /** Writes the line once the change has ended; its entry says what was changed. */
  note(team: string, entry: AuditEntry, end: { readonly outcome: AuditOutcome }): void
}

export const NO_AUDIT_LINES: AuditLines = Object.freeze({ note: () => undefined })

/**
 * Records who changed what. A step that changes something writes its entry itself; for a change outside of Redis there
 * are `ask` and `settle`. Throws StoreUnavailableError.
 */
export interface AuditLog {
  /**
   * Records before a change that it is wanted, so that it leaves a trace even if the process dies meanwhile. Without
   * `settle` it becomes an entry with the outcome `unknown` after ASKED_AUDIT_MS.
   * @returns what `settle` takes
   */
  ask(team: string, entry: AuditEntry): Promise<string>
  /** Records the end of the change. @param end null = nothing was to be changed: there is no entry */
  settle(
    team: string,
    ticket: string,
    end: { entry: AuditEntry; outcome: AuditOutcome } | null,
  ): Promise<void>
  /** Newest first. A page before the last may be short or empty. `bad_cursor` when this list did not make the cursor. */
  list(query: AuditQuery): Promise<{ records: AuditRecord[]; nextCursor: string | null } | 'bad_cursor'>
  /** Who has logged in for the team since then, each once, the newest login first. @param sinceMs Unix ms */
  loggedIn(team: string, sinceMs: number): Promise<ReadonlyArray<Pick<Actor, 'kind' | 'name'>>>
}
