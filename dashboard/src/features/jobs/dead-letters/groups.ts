import type { BulkAction, DeadLetterGroup } from '../../../../../clients/typescript/src/client.ts'
import type { FilterValues } from '../job-filter.ts'

/** What a dialog is open for. */
export interface Asked {
  readonly action: BulkAction
  readonly values: FilterValues
}

/** Groups are by queue, reason, status and host. */
export function groupKey({
  queue_id: queue,
  failure_reason: reason,
  response_status: status,
  host,
}: DeadLetterGroup): string {
  return JSON.stringify([queue, reason, status, host])
}

/** Puts together what several pages say of one group; the largest first. */
export function mergeGroups(groups: readonly DeadLetterGroup[]): DeadLetterGroup[] {
  const merged = new Map<string, DeadLetterGroup>()
  for (const group of groups) {
    const key = groupKey(group)
    const known = merged.get(key)
    merged.set(key, known === undefined ? group : together(known, group))
  }
  return [...merged.values()].toSorted((a, b) => b.count - a.count || (groupKey(a) < groupKey(b) ? -1 : 1))
}

function together(a: DeadLetterGroup, b: DeadLetterGroup): DeadLetterGroup {
  return {
    ...(isBefore(a.last_ended_at, b.last_ended_at) ? b : a),
    count: a.count + b.count,
    first_ended_at: isBefore(a.first_ended_at, b.first_ended_at) ? a.first_ended_at : b.first_ended_at,
    next_purge_at: earliest([a.next_purge_at, b.next_purge_at]),
  }
}

export function countOf(groups: readonly DeadLetterGroup[]): number {
  return groups.reduce((sum, { count }) => sum + count, 0)
}

function isBefore(a: string, b: string): boolean {
  return Date.parse(a) < Date.parse(b)
}

export function earliest(times: ReadonlyArray<string | null>): string | null {
  const known = times.filter((time) => time !== null)
  return known.toSorted((a, b) => Date.parse(a) - Date.parse(b))[0] ?? null
}

/** The filter that finds the jobs of a group, within one that holds already; null where none does. */
export function filterOfGroup(
  { queue, failure_reason: reason, response_status: status, host }: DeadLetterGroup,
  within: FilterValues,
): FilterValues | null {
  // A damaged record has no host to be found by, and a hidden queue no name.
  if (queue === null || host === null) return null
  return {
    ...within,
    status: 'dead_lettered',
    queue,
    host,
    ...(reason !== null && { failure_reason: reason }),
    ...(status !== null && status <= 599 && { response_status: String(status) }),
  }
}
