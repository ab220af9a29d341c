import type { Issue } from '../../../domain/issues/issue.ts'
import { issueStateAt } from '../../../domain/issues/issue.ts'
import { ISSUE_DAYS } from '../../../domain/limits.ts'
import { shardKeys, type Engine } from '../../base/engine/engine.ts'
import { readHash } from '../../base/engine/paged-reads.ts'
import { saidNameIn } from '../../base/layout/cron-record.ts'
import { QUEUE } from '../../base/layout/fields.ts'
import { isIssueField, issueIn, type IssueRecord } from './issue-record.ts'
import { NO_QUEUE, queueIdOf, splitNameField, type ShardKeys } from '../../base/layout/keys.ts'

const KEPT_MS = ISSUE_DAYS * 86_400_000

/** Where an issue lies, by its id; null when it can lie nowhere. */
export function placeOfIssue(engine: Engine, issueId: string): { keys: ShardKeys; field: string } | null {
  const [, queueText, hash] = /^(0|[1-9]\d{0,15})-([0-9a-z]+)$/.exec(issueId) ?? []
  const queueId = Number(queueText ?? Number.NaN)
  if (!Number.isSafeInteger(queueId)) return null
  const shards = engine.shards.length
  const field = `${Math.floor(queueId / shards)}-${hash}`
  return isIssueField(field) ? { keys: shardKeys(engine, queueId % shards), field } : null
}

/** All issues of a team; there are at most ISSUES_PER_TEAM_MAX, or ISSUES_PER_SHARD_MIN in each shard. */
export async function readIssues(engine: Engine, team: string): Promise<Issue[]> {
  const found = await Promise.all(
    engine.shards.map(async (keys) =>
      readable(engine, { keys, team }, await readHash(engine, keys.issues(team))),
    ),
  )
  return found.flat()
}

export async function readIssue(engine: Engine, team: string, issueId: string): Promise<Issue | null> {
  const place = placeOfIssue(engine, issueId)
  if (place === null) return null
  const { keys, field } = place
  const text = await engine.runner.read((redis) => redis.hget(keys.issues(team), field))
  if (text === null) return null
  const [issue = null] = await readable(engine, { keys, team }, new Map([[field, text]]))
  return issue
}

type Subject = Issue['resource']

/** Leaves out what is damaged, past its time, or of a queue that is deleted. */
async function readable(
  engine: Engine,
  { keys, team }: { readonly keys: ShardKeys; readonly team: string },
  texts: ReadonlyMap<string, string>,
): Promise<Issue[]> {
  const nowMs = engine.runner.redisNowMs(keys.shard)
  const records = [...texts].flatMap(([field, text]) => {
    const record = issueIn(field, text)
    return record === null || isOver(record, nowMs) ? [] : [{ field, record }]
  })
  const localIds = [...new Set(records.map(({ record }) => record.localId))]
  const subjects = new Map(
    await Promise.all(localIds.map(async (id) => [id, await subjectOf(engine, { keys, team, id })] as const)),
  )
  return records.flatMap(({ field, record }) => {
    const resource = subjects.get(record.localId) ?? null
    if (resource === null) return []
    const id = `${queueIdOf(record.localId, keys.shard, engine.shards.length)}${field.slice(field.indexOf('-'))}`
    return [issueOf({ id, record, resource, nowMs })]
  })
}

function issueOf({
  id,
  record,
  resource,
  nowMs,
}: {
  readonly id: string
  readonly record: IssueRecord
  readonly resource: Subject
  readonly nowMs: number
}): Issue {
  const { localId: _, ...rest } = record
  const state = issueStateAt(record, nowMs)
  const hours = record.hours.filter(({ atMs }) => atMs > nowMs - KEPT_MS)
  return { ...rest, id, resource, state, mutedUntilMs: state === 'muted' ? record.mutedUntilMs : null, hours }
}

/** Whether nothing has failed for so long that the issue is about to be removed; a mute keeps it. */
export function isOver(
  record: Pick<IssueRecord, 'lastAtMs' | 'state' | 'mutedUntilMs'>,
  nowMs: number,
): boolean {
  return record.lastAtMs <= nowMs - KEPT_MS && issueStateAt(record, nowMs) !== 'muted'
}

/** The queue or cron of an issue, or the team for those of queues without any; null when it was deleted. */
async function subjectOf(
  engine: Engine,
  { keys, team, id }: { readonly keys: ShardKeys; readonly team: string; readonly id: string },
): Promise<Subject | null> {
  if (id === NO_QUEUE) return { kind: 'team', id: null, name: team }
  const [nameField, cronId] = await engine.runner.read((redis) =>
    redis.hmget(keys.queue(id).meta, QUEUE.name, QUEUE.cronId),
  )
  if (nameField === null || nameField === undefined) return null
  if (cronId === null || cronId === undefined) {
    const queueId = queueIdOf(id, keys.shard, engine.shards.length)
    return { kind: 'queue', id: queueId, name: splitNameField(nameField).queue }
  }
  const said = await engine.runner.read((redis) => redis.hget(keys.cronAlerts, cronId))
  return { kind: 'cron', id: Number(cronId), name: said === null ? '' : (saidNameIn(said) ?? '') }
}
