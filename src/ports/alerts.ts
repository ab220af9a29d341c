import type { Actor } from '../domain/access/audit-record.ts'
import type { Alert, AlertReason, AlertResourceKind, AlertType } from '../domain/alerts/alert.ts'

/** Conditions that all must hold; null = any. */
export interface AlertFilter {
  readonly type: AlertType | null
  readonly reason: AlertReason | null
  readonly resourceKind: AlertResourceKind | null
  readonly resourceId: number | null
  readonly isRead: boolean | null
  /** Alerts whose last raise is at or after this time, Unix ms. */
  readonly afterMs: number | null
  /** Alerts whose last raise is before this time, Unix ms. */
  readonly beforeMs: number | null
}

export interface UnreadAlerts {
  readonly unread: number
  readonly byType: Readonly<Record<AlertType, number>>
}

/** The alerts of all shards. Throws StoreUnavailableError. */
export interface AlertStore {
  /**
   * Newest first. Looks at a bounded number of alerts, so that a page may hold fewer than `limit` although a cursor
   * follows. `bad_cursor` when this list with these filters did not make the cursor.
   */
  list(query: {
    readonly team: string
    readonly filter: AlertFilter
    /** 1–1000. */
    readonly limit: number
    readonly cursor: string | null
  }): Promise<{ readonly alerts: readonly Alert[]; readonly nextCursor: string | null } | 'bad_cursor'>
  get(team: string, alertId: number): Promise<Alert | null>
  counts(team: string): Promise<UnreadAlerts>
  /** The alert; null when there is none. */
  markRead(team: string, alertId: number, actor: Actor): Promise<Alert | null>
  /** Marks what there is now; answers how many were unread before. Repeatable after a fault. */
  markAllRead(team: string, filter: AlertFilter): Promise<number>
  /** False when there is none. */
  remove(team: string, alertId: number, actor: Actor): Promise<boolean>
  /** Removes what there is now; answers how many. Repeatable after a fault. */
  removeAll(team: string, filter: AlertFilter): Promise<number>
}
