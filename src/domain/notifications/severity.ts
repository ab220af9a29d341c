import type { AlertType } from '../alerts/alert.ts'

/** The most severe first. */
const BY_SEVERITY: readonly AlertType[] = ['failure', 'limit_warning', 'warning', 'recovery']

/** Negative when `a` is more severe than `b`. */
export function compareSeverity(a: AlertType, b: AlertType): number {
  return BY_SEVERITY.indexOf(a) - BY_SEVERITY.indexOf(b)
}

/** null of none. */
export function mostSevereOf(types: readonly AlertType[]): AlertType | null {
  return types.toSorted(compareSeverity)[0] ?? null
}
