import { createHash } from 'node:crypto'
import {
  ISSUE_DAYS,
  ISSUE_HOST_CHARACTERS_MAX,
  ISSUE_QUIET_MS,
  ISSUES_PER_QUEUE_MAX,
  ISSUES_PER_SHARD_MIN,
  ISSUES_PER_TEAM_MAX,
} from '../../../domain/limits.ts'
import type { FailureReason } from '../../../domain/jobs/job.ts'
import type { ShardKeys } from '../../base/layout/keys.ts'

/** The rows of a step that counts failures: what issues/issues.lua needs of a team. */
export const ISSUE_TEAM = {
  keys: ['issues', 'issuesDue'],
  args: ['team', 'issuesMax', 'queueMax', 'hoursMax', 'quietMs'],
} as const

/** A failed attempt, by what issues are grouped by beside their queue. */
export interface FailedAttempt {
  readonly team: string
  readonly reason: FailureReason
  readonly status: number | null
  readonly host: string
}

const HASH_CHARACTERS = 10

/** @param shards of the installation: each keeps an equal part of a team's issues */
export function issueTeam(keys: ShardKeys, team: string, shards: number) {
  return {
    issues: keys.issues(team),
    issuesDue: keys.issuesDue,
    team,
    issuesMax: Math.max(ISSUES_PER_SHARD_MIN, Math.ceil(ISSUES_PER_TEAM_MAX / shards)),
    queueMax: ISSUES_PER_QUEUE_MAX,
    hoursMax: ISSUE_DAYS * 24,
    quietMs: ISSUE_QUIET_MS,
  }
}

/**
 * Writes the failures of a batch as finish/failures.lua reads them, and the rows of their teams.
 * @param failures by the position of their job; null = it has not failed
 */
export function issueValues(keys: ShardKeys, failures: ReadonlyArray<FailedAttempt | null>, shards: number) {
  const teams = new Map<string, number>()
  let text = ''
  failures.forEach((failure, i) => {
    if (failure === null) return
    const { team, reason, status } = failure
    const position = teams.get(team) ?? teams.size + 1
    teams.set(team, position)
    const host = failure.host.slice(0, ISSUE_HOST_CHARACTERS_MAX)
    text += `${i + 1} ${position} ${groupHash(reason, status, host)} ${reason} ${status ?? ''} ${host}\n`
  })
  return { failures: text, issueTeams: [...teams.keys()].map((team) => issueTeam(keys, team, shards)) }
}

function groupHash(reason: FailureReason, status: number | null, host: string): string {
  const digest = createHash('sha256')
    .update(`${reason} ${status ?? ''} ${host}`)
    .digest('hex')
  return digest.slice(0, HASH_CHARACTERS)
}
