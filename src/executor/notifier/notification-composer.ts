import { NOTIFICATION_ENTRIES_MAX } from '../../domain/limits.ts'
import type { ChannelTest } from '../../domain/notifications/channel-state.ts'
import type { PlannedEntry } from '../../domain/notifications/channel-plan.ts'
import type {
  ChannelSnapshot,
  Notification,
  NotificationBoard,
  NotificationEntry,
} from '../../ports/notifications.ts'

/** Reads the newest alert of each entry. null = all of them were deleted. */
export async function composeNotification(
  board: NotificationBoard,
  { team, nowMs }: Pick<ChannelSnapshot, 'team' | 'nowMs'>,
  { id, planned }: { readonly id: string; readonly planned: readonly PlannedEntry[] },
): Promise<Notification | null> {
  const shown = planned.slice(0, NOTIFICATION_ENTRIES_MAX)
  const alerts = await board.alerts(
    team,
    shown.map(({ total }) => total.newestId),
  )
  const entries = shown.flatMap(({ total, count, threadId, isReply }): NotificationEntry[] => {
    const alert = alerts.get(total.newestId)
    return alert === undefined ? [] : [{ alert, count, threadId, isReply }]
  })
  if (entries.length === 0) return null
  const left = planned.slice(shown.length)
  const counts = [...entries, ...left].map(({ count }) => count)
  return {
    id,
    team,
    kind: 'alerts',
    entries,
    moreEntries: left.length,
    createdAtMs: nowMs,
    alerts: counts.reduce((sum, count) => sum + count, 0),
  }
}

export function composeTest(
  { team, nowMs }: Pick<ChannelSnapshot, 'team' | 'nowMs'>,
  { id }: ChannelTest,
): Notification {
  return { id, team, kind: 'test', entries: [], moreEntries: 0, alerts: 0, createdAtMs: nowMs }
}
