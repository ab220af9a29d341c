import { ISSUE_QUIET_MS } from '../../../domain/limits.ts'
import type { Engine } from '../../base/engine/engine.ts'
import { readHash } from '../../base/engine/paged-reads.ts'
import { step } from '../../base/engine/step.ts'
import { isIssueField, issueIn, type IssueRecord } from './issue-record.ts'
import { NO_QUEUE, type ShardKeys } from '../../base/layout/keys.ts'
import { isOver } from './issue-reads.ts'

export const TEND_ISSUES = step('tend_issues', import.meta.url, {
  keys: ['issues', 'issuesDue'],
  args: ['team', 'dueMs'],
  rows: { resolved: { args: ['field', 'text'] }, removed: { args: ['field', 'text'] } },
})

/** Issues that one step changes. */
const TENDED_TOGETHER = 100
/** A success may be near, but is not there yet: the issue is looked at again. */
const AGAIN_MS = 300_000
/** Teams are not looked at more often than this. */
const BETWEEN_MS_MIN = 60_000

interface StoredIssue {
  readonly field: string
  readonly text: string
  /** null = it is damaged, or says what is free in a share. */
  readonly record: IssueRecord | null
}

/** Finds those of the issues of one queue whose host has answered with success since. */
export type RecoveredFinder = (
  localId: string,
  issues: ReadonlyArray<Pick<IssueRecord, 'host' | 'lastAtMs'>>,
) => Promise<readonly boolean[]>

/**
 * Looks at the issues of a team in a shard: resolves those that have been quiet and have recovered, and removes those that
 * are too old or of a deleted queue. Answers whether more is to be removed at once.
 */
export async function tendIssues(
  engine: Engine,
  keys: ShardKeys,
  { team, recovered }: { readonly team: string; readonly recovered: RecoveredFinder },
): Promise<boolean> {
  const nowMs = engine.runner.redisNowMs(keys.shard)
  const texts = await readHash(engine, keys.issues(team))
  const stored = [...texts].map(([field, text]): StoredIssue => ({
    field,
    text,
    record: issueIn(field, text),
  }))
  const removed = await removedOf(engine, keys, { stored, nowMs })
  const kept = stored.filter((one) => !removed.includes(one))
  const quiet = kept.filter(({ record }) => isQuiet(record, nowMs))
  const resolved = await resolvedOf(quiet, recovered)
  const isMore = removed.length > TENDED_TOGETHER || resolved.length > TENDED_TOGETHER
  const dueMs = isMore ? nowMs : nextLookMs({ kept, isWaiting: quiet.length > resolved.length, nowMs })
  await engine.runner.run(
    TEND_ISSUES.with({
      keys,
      issues: keys.issues(team),
      team,
      dueMs,
      resolved: resolved.slice(0, TENDED_TOGETHER).map(rowOf),
      removed: removed.slice(0, TENDED_TOGETHER).map(rowOf),
    }),
  )
  return isMore
}

function rowOf({ field, text }: StoredIssue): { field: string; text: string } {
  return { field, text }
}

function isOpen(record: IssueRecord): boolean {
  return record.state === 'open' || record.state === 'acknowledged'
}

function isQuiet(record: IssueRecord | null, nowMs: number): boolean {
  return record !== null && isOpen(record) && record.lastAtMs + ISSUE_QUIET_MS <= nowMs
}

/** Next to a look after the quiet time of the issue that failed first, at the latest when a mute may be over. */
function nextLookMs({
  kept,
  isWaiting,
  nowMs,
}: {
  readonly kept: readonly StoredIssue[]
  readonly isWaiting: boolean
  readonly nowMs: number
}): number {
  if (isWaiting) return nowMs + AGAIN_MS
  const looks = kept.flatMap(({ record }) =>
    record !== null && isOpen(record) ? [record.lastAtMs + ISSUE_QUIET_MS] : [],
  )
  return Math.max(nowMs + BETWEEN_MS_MIN, Math.min(nowMs + ISSUE_QUIET_MS, ...looks))
}

async function removedOf(
  engine: Engine,
  keys: ShardKeys,
  { stored, nowMs }: { readonly stored: readonly StoredIssue[]; readonly nowMs: number },
): Promise<StoredIssue[]> {
  const localIds = [...new Set(stored.flatMap(({ record }) => (record === null ? [] : [record.localId])))]
  const exists = await engine.runner.read((redis) =>
    Promise.all(localIds.map((id) => redis.hlen(keys.queue(id).meta))),
  )
  const gone = new Set(localIds.filter((id, i) => id !== NO_QUEUE && exists[i] === 0))
  const isRemoved = ({ field, record }: StoredIssue): boolean =>
    record === null ? isIssueField(field) : gone.has(record.localId) || isOver(record, nowMs)
  const removed = stored.filter(isRemoved)
  const left = new Set(stored.filter((one) => !isRemoved(one)).map(({ record }) => record?.localId))
  // What is free in a share goes with the last issue of its queue.
  const notes = stored.filter(({ field }) => field.startsWith('#') && !left.has(field.slice(1)))
  return [...removed, ...notes]
}

async function resolvedOf(quiet: readonly StoredIssue[], recovered: RecoveredFinder): Promise<StoredIssue[]> {
  const resolved: StoredIssue[] = []
  for (const [localId, ofQueue] of Map.groupBy(quiet, ({ record }) => (record as IssueRecord).localId)) {
    const have = await recovered(
      localId,
      ofQueue.map(({ record }) => record as IssueRecord),
    )
    resolved.push(...ofQueue.filter((_, i) => have[i] === true))
  }
  return resolved
}
