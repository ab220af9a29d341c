import type { LiveMarks, OldestStartable } from '../../../ports/live/live.ts'
import { decodeAuditEntry } from '../../ledger/audit-log/audit-entry.ts'
import type { AuditedResource } from '../../../domain/access/audit-record.ts'
import type { Engine } from '../../base/engine/engine.ts'
import { step } from '../../base/engine/step.ts'
import { ALERT_COUNTS } from '../../base/layout/fields.ts'
import { isCallbackQueue, type ShardKeys } from '../../base/layout/keys.ts'
import { bandRange } from '../../base/layout/ring-bands.ts'
import { suspectQueues } from '../../jobs/queues/occupied-queues.ts'
import type { HeldQueues } from '../../jobs/execute/claim/held-queues.ts'
import { NO_WAIT, waitsOf, type Wait } from './team-waits.ts'
import { decodeOpen } from '../../base/layout/statistics/statistics-cell.ts'
import { ownerOfTeam } from '../../base/layout/statistics/statistics-log.ts'

export const READ_LIVE = step('read_live', import.meta.url, {
  keys: ['ring', 'suspects', 'teamUsage', 'statistics', 'openTallies'],
  args: ['entriesMax', 'queuesMax'],
  rows: {
    teams: {
      keys: ['alertCounts', 'auditLog', 'auditCounts', 'deedLog', 'deedCounts', 'teamQueues', 'teamCrons'],
      args: ['team', 'seen', 'from', 'to', 'counted'],
    },
  },
})

/** The new entries of the audit log that one reading tells apart. With more of them anything may have changed. */
export const NEW_ENTRIES_MAX = 10
/** A team's next queues in a shard, among which its oldest ready job is sought. */
const QUEUES_MAX = 50
/** The queues with suspects whose team a reading asks for. While there are more, some suspects count as in flight. */
const SUSPECT_QUEUES_MAX = 1_000
const NOTHING_COUNTED = { startable: 0, stopped: 0 }
/** The mark of an audit log that has no entry yet. */
const NO_ENTRY = '0-0'

/** The state of one team in one shard. */
export interface LiveShardReading {
  readonly pending: number
  readonly inFlight: number
  readonly unreadAlerts: number
  /** As of the minute that was counted last. */
  readonly startable: number
  readonly stopped: number
  readonly oldestStartable: OldestStartable | null
  readonly marks: LiveMarks
  /** What the new entries of the audit log are about; null = there are too many to tell. */
  readonly audited: ReadonlyArray<AuditedResource['kind']> | null
}

type Row = [
  pending: string,
  slots: string,
  usage: string,
  queues: number,
  crons: number,
  alerts: string[],
  entries: string[],
  ring: string[],
  deeds: string,
  counted: string,
]

/** @param asked names each team, and the last entry of its audit log that was seen; '' = none yet */
export async function readLiveShard(
  engine: Engine,
  { keys, held }: { readonly keys: ShardKeys; readonly held: HeldQueues },
  asked: ReadonlyArray<{ readonly team: string; readonly seen: string }>,
): Promise<readonly LiveShardReading[]> {
  const bands = await Promise.all(
    asked.map(async ({ team }) => bandRange(await engine.teamNumbers.of(keys, team))),
  )
  const [suspects, ...rows] = (await engine.runner.run(
    READ_LIVE.with({
      keys,
      entriesMax: NEW_ENTRIES_MAX,
      queuesMax: QUEUES_MAX,
      teams: asked.map(({ team, seen }, at) => ({
        team,
        seen,
        from: bands[at]?.[0] ?? '',
        to: bands[at]?.[1] ?? '',
        counted: ownerOfTeam(team),
        alertCounts: keys.alertCounts(team),
        auditLog: keys.auditLog(team),
        auditCounts: keys.auditCounts(team),
        deedLog: keys.deedLog(team),
        deedCounts: keys.deedCounts(team),
        teamQueues: keys.teamQueues(team),
        teamCrons: keys.teamCrons(team),
      })),
    }),
  )) as [suspects: number, ...rows: Row[]]
  const listed = rows.flatMap((row) => row[7].filter((localId) => !isCallbackQueue(localId)))
  if (suspects > 0)
    listed.push(...[...(await suspectQueues(engine, keys)).keys()].slice(0, SUSPECT_QUEUES_MAX))
  const waits = await waitsOf(engine, { keys, held }, [...new Set(listed)])
  return rows.map((row, at) => shardReadingOf(row, asked[at]?.seen ?? '', waits.get(asked[at]?.team ?? '')))
}

function shardReadingOf(
  row: Row,
  seen: string,
  { suspects, oldestStartable }: Wait = NO_WAIT,
): LiveShardReading {
  const [pending, slots, usage, queues, crons, alerts, entries, , deeds, counted] = row
  const audited = auditedIn(entries)
  const { startable, stopped } = decodeOpen(counted) ?? NOTHING_COUNTED
  return {
    pending: Number(pending),
    // A suspect that waits keeps its slot, and is not in flight.
    inFlight: Number(slots) - suspects,
    unreadAlerts: unreadIn(alerts),
    startable,
    stopped,
    oldestStartable,
    marks: {
      jobs: usage,
      queues: String(queues),
      crons: String(crons),
      alerts: alerts.join(' '),
      audit: entries[0] ?? (seen === '' ? NO_ENTRY : seen),
      deeds,
    },
    audited: seen === '' ? [] : audited,
  }
}

function unreadIn(alerts: readonly string[]): number {
  return alerts.reduce((sum, value, at) => {
    const isUnread = at % 2 === 1 && alerts[at - 1]?.startsWith(ALERT_COUNTS.unread) === true
    return isUnread ? sum + Math.max(0, Number(value)) : sum
  }, 0)
}

/** The kinds of resources that these entries name. null = there are too many entries, or one cannot be read. */
function auditedIn(entries: readonly string[]): LiveShardReading['audited'] {
  if (entries.length >= NEW_ENTRIES_MAX * 2) return null
  const kinds: Array<AuditedResource['kind']> = []
  for (let at = 0; at < entries.length; at += 2) {
    const record = decodeAuditEntry(entries[at] ?? '', {
      lane: 0,
      text: entries[at + 1] ?? '',
      counted: null,
    })
    if (record === null) return null
    kinds.push(record.resource.kind)
  }
  return kinds
}
