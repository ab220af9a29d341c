import type { LiveMarks } from '../../ports/live/live.ts'
import { decodeAuditEntry } from '../audit-log/audit-entry.ts'
import type { AuditedResource } from '../../domain/access/audit-record.ts'
import type { Engine } from '../client/engine.ts'
import { step } from '../client/step.ts'
import { ALERT_COUNTS } from '../layout/fields.ts'
import { isCallbackQueue, splitNameField, type ShardKeys } from '../layout/keys.ts'
import { bandRange } from '../layout/ring-bands.ts'
import { suspectQueues } from '../queues/occupied-queues.ts'
import { SAMPLE_QUEUES, type SampledRow } from '../statistics/sampler.ts'

export const READ_LIVE = step('read_live', import.meta.url, {
  keys: ['ring', 'suspects', 'teamUsage'],
  args: ['entriesMax', 'queuesMax'],
  rows: {
    teams: {
      keys: ['alertCounts', 'auditLog', 'auditCounts', 'deedLog', 'deedCounts', 'teamQueues', 'teamCrons'],
      args: ['team', 'seen', 'from', 'to'],
    },
  },
})

/** New entries of the audit log that one look tells apart; with more, anything may have changed. */
export const NEW_ENTRIES_MAX = 10
/** Queues of a team in a shard, those that are next, among which the oldest ready job is looked for. */
const QUEUES_MAX = 50
/** Queues with suspects that a look asks for their team: while there are more, some of them count as in flight. */
const SUSPECT_QUEUES_MAX = 1_000
/** Queues that one step samples: 250 take 2 ms, ten times as many held up all other steps for 30. */
const SAMPLED_MAX = 250
/** Of an audit log without entries. */
const NO_ENTRY = '0-0'

/** Of one team in one shard. */
export interface ShardLook {
  readonly pending: number
  readonly inFlight: number
  readonly unreadAlerts: number
  readonly oldestReadyMs: number | null
  readonly marks: LiveMarks
  /** What the new entries of the audit log are about; null = too many to tell. */
  readonly audited: ReadonlyArray<AuditedResource['kind']> | null
}

type Row = [
  ...[pending: string, slots: string, usage: string, queues: number, crons: number],
  ...[alerts: string[], entries: string[], ring: string[], deeds: string],
]

/** @param asked with the last entry seen of the audit log; '' = none yet */
export async function lookAtShard(
  engine: Engine,
  keys: ShardKeys,
  asked: ReadonlyArray<{ readonly team: string; readonly seen: string }>,
): Promise<readonly ShardLook[]> {
  const bands = await Promise.all(
    asked.map(async ({ team }) => bandRange(await engine.teamNumbers.of(keys, team))),
  )
  const [suspects, ...rows] = (await engine.runner.run(
    READ_LIVE.with({
      ...{ keys, entriesMax: NEW_ENTRIES_MAX, queuesMax: QUEUES_MAX },
      teams: asked.map(({ team, seen }, at) => ({
        ...{ team, seen, from: bands[at]?.[0] ?? '', to: bands[at]?.[1] ?? '' },
        ...{ alertCounts: keys.alertCounts(team), auditLog: keys.auditLog(team) },
        ...{ auditCounts: keys.auditCounts(team), deedLog: keys.deedLog(team) },
        deedCounts: keys.deedCounts(team),
        ...{ teamQueues: keys.teamQueues(team), teamCrons: keys.teamCrons(team) },
      })),
    }),
  )) as [suspects: number, ...rows: Row[]]
  const listed = rows.flatMap((row) => row[7].filter((localId) => !isCallbackQueue(localId)))
  if (suspects > 0)
    listed.push(...[...(await suspectQueues(engine, keys)).keys()].slice(0, SUSPECT_QUEUES_MAX))
  const waits = await waitsOf(engine, keys, [...new Set(listed)])
  return rows.map((row, at) => shardLookOf(row, asked[at]?.seen ?? '', waits.get(asked[at]?.team ?? '')))
}

function shardLookOf(row: Row, seen: string, { suspects, oldestReadyMs }: Wait = NO_WAIT): ShardLook {
  const [pending, slots, usage, queues, crons, alerts, entries, , deeds] = row
  const audited = auditedIn(entries)
  return {
    pending: Number(pending),
    // A suspect that waits keeps its slot, and is not in flight.
    inFlight: Number(slots) - suspects,
    unreadAlerts: unreadIn(alerts),
    oldestReadyMs,
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

/** null = too many, or one that cannot be read. */
function auditedIn(entries: readonly string[]): ShardLook['audited'] {
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

/** What waits of a team in the queues looked at. */
interface Wait {
  readonly suspects: number
  readonly oldestReadyMs: number | null
}
const NO_WAIT: Wait = { suspects: 0, oldestReadyMs: null }

/** By team. Asks nothing where no job is ready. */
async function waitsOf(
  engine: Engine,
  keys: ShardKeys,
  localIds: readonly string[],
): Promise<ReadonlyMap<string, Wait>> {
  const waits = new Map<string, Wait>()
  for (let begin = 0; begin < localIds.length; begin += SAMPLED_MAX) {
    const page = localIds.slice(begin, begin + SAMPLED_MAX)
    const [now, samples] = (await engine.runner.run(
      SAMPLE_QUEUES.with({ keys, queues: page.map((localId) => ({ localId })) }),
    )) as [now: string, samples: SampledRow[]]
    samples.forEach(([name, active, , suspects, due], at) => {
      if (name === '') return
      const { team } = splitNameField(name)
      const before = waits.get(team) ?? NO_WAIT
      // A callback is nothing that its team waits for.
      const isShown = active === '1' && due !== '' && !isCallbackQueue(page[at] ?? '')
      const ageMs = isShown ? Number(now) - Number(due) : null
      waits.set(team, {
        suspects: before.suspects + suspects,
        oldestReadyMs: ageMs === null ? before.oldestReadyMs : Math.max(before.oldestReadyMs ?? 0, ageMs),
      })
    })
  }
  return waits
}
