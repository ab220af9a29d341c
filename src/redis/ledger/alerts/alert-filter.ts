import type { Alert } from '../../../domain/alerts/alert.ts'
import type { AlertFilter } from '../../../ports/alerts.ts'

/** @param alert null when its record is damaged: only a filter that asks for nothing wants it, so that it can be deleted */
export function isWanted(alert: Alert | null, filter: AlertFilter): boolean {
  if (alert === null) return Object.values(filter).every((wanted) => wanted === null)
  const { type, reason, resourceKind, resourceId, isRead, afterMs, beforeMs } = filter
  return (
    isAnyOr(type, alert.type) &&
    isAnyOr(reason, alert.reason) &&
    isAnyOr(resourceKind, alert.resource.kind) &&
    isAnyOr(resourceId, alert.resource.id) &&
    isAnyOr(isRead, alert.isRead) &&
    (afterMs === null || alert.lastAtMs >= afterMs) &&
    (beforeMs === null || alert.lastAtMs < beforeMs)
  )
}

function isAnyOr<T>(wanted: T | null, value: T | null): boolean {
  return wanted === null || wanted === value
}
