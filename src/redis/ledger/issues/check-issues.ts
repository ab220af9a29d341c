import type { Engine } from '../../base/engine/engine.ts'
import { readHash, readSortedSet } from '../../base/engine/paged-reads.ts'
import type { ShardKeys } from '../../base/layout/keys.ts'
import { issueIn, isShareNote } from './issue-record.ts'
import { issueTeam } from './issue-rows.ts'

/** A queue may also have a note of its share, and an issue of its other failures. */
const FIELDS_OF_AN_ISSUE_MAX = 3

/** Checks the issues of each team in a shard, and that each is looked at again. */
export async function checkIssues(
  engine: Engine,
  keys: ShardKeys,
  { teams, find }: { readonly teams: ReadonlySet<string>; find(key: string, message: string): void },
): Promise<void> {
  const due = await readSortedSet(engine, keys.issuesDue)
  for (const team of due.keys()) {
    if (!teams.has(team)) find(keys.issuesDue, `names ${team}, which has no issues`)
  }
  for (const team of teams) {
    const key = keys.issues(team)
    const fields = await readHash(engine, key)
    if (!due.has(team)) find(keys.issuesDue, `lacks the issues of ${team}, which would stay for ever`)
    const { issuesMax } = issueTeam(keys, team, engine.shards.length)
    if (fields.size > issuesMax * FIELDS_OF_AN_ISSUE_MAX) find(key, `holds ${fields.size} fields`)
    for (const [field, text] of fields) {
      if (issueIn(field, text) === null && !isShareNote(field, text)) find(key, `holds ${field} = ${text}`)
    }
  }
}
