import {
  EXPIRING_WITHIN_MS,
  GROWING_WITHIN_MS,
  judgeQueue,
  QUEUE_LIMITS,
  queueLimitFacts,
  warningChange,
  type QueueLimit,
  type QueueReading,
} from '../../domain/alerts/limit-rules.ts'
import { DLQ_RETENTION_DAYS } from '../../domain/limits.ts'
import type { ChainSettings } from '../../domain/jobs/queue-settings.ts'
import type { SetAside } from '../../domain/set-aside.ts'
import type { WindowSource } from '../../ports/windows.ts'
import type { Engine } from '../client/engine.ts'
import { step } from '../client/step.ts'
import { settingsIn } from '../layout/job-record.ts'
import { splitNameField, type ShardKeys } from '../layout/keys.ts'
import { decodeStanding, encodeStanding, NOTHING_STANDS, type Standing } from './standing-warnings.ts'
import { muteOf, warn, type WarningChange } from './warn.ts'

export const LOOK_QUEUES = step('look_queues', import.meta.url, {
  keys: ['settings', 'limitWarnings'],
  args: ['growingMs', 'expiringMs'],
  rows: {
    queues: { queueKeys: ['meta', 'ready', 'records', 'inFlight', 'deadLetters'], args: ['localId'] },
  },
  rest: 'retentionsMs',
})

const DAY_MS = 86_400_000
/** Queues that one step reads, so that it does not hold up other steps. */
const READ_BATCH_MAX = 100

/** What the step answers for a queue, in order. */
type Row = [
  ...[field: string, settingsHash: string, active: string, limit: string],
  ...[slotsTaken: number, ready: number, oldestDue: string, expiring: number],
  ...[saturated: string, growing: string, expiringStands: string, ...added: number[]],
]

/** Reads queues, and raises and clears their warnings. */
export async function lookAtQueues(
  engine: Engine,
  keys: ShardKeys,
  {
    localIds,
    windows,
    setAside,
  }: { readonly localIds: readonly string[]; readonly windows: WindowSource; readonly setAside: SetAside },
): Promise<void> {
  for (let begin = 0; begin < localIds.length; begin += READ_BATCH_MAX) {
    const page = localIds.slice(begin, begin + READ_BATCH_MAX)
    const [now, rows, flat] = (await engine.runner.run(
      LOOK_QUEUES.with({
        ...{ keys, growingMs: GROWING_WITHIN_MS, expiringMs: EXPIRING_WITHIN_MS },
        queues: page.map((localId) => ({ localId })),
        retentionsMs: DLQ_RETENTION_DAYS.map((days) => days * DAY_MS),
      }),
    )) as [now: string, rows: Row[], settings: string[]]
    const settings = new Map<string, ChainSettings | null>()
    for (let i = 0; i < flat.length; i += 2) {
      const [hash = '', json = ''] = [flat[i], flat[i + 1]]
      settings.set(
        hash,
        setAside.try({ settingsHash: hash }, () => settingsIn(hash, json), null),
      )
    }
    const nowMs = Number(now)
    const changes = rows.flatMap((row, i) => {
      const around = { nowMs, settings: settings.get(row[1]) ?? null, windows }
      return setAside.try({ queue: row[0] }, () => changesOf(page[i] ?? '', row, around), [])
    })
    await warn(engine, keys, { changes, setAside })
  }
}

interface Around {
  readonly nowMs: number
  /** null = missing or damaged. */
  readonly settings: ChainSettings | null
  readonly windows: WindowSource
}

function changesOf(localId: string, row: Row, around: Around): WarningChange[] {
  const standing: Record<QueueLimit, string> = {
    queue_saturated: row[8],
    dead_letters_growing: row[9],
    dead_letters_expiring: row[10],
  }
  // A hidden queue and one that was deleted have no name.
  const { team, queue: name } = row[0] === '' ? { team: '', queue: '' } : splitNameField(row[0])
  const reading = row[0] === '' ? null : readingOf(row, around)
  const suppressedBy = team === '' ? null : muteOf(around.windows, { team, queue: name, nowMs: around.nowMs })
  return QUEUE_LIMITS.flatMap((reason): WarningChange[] => {
    const seen = standing[reason]
    const before = decodeStanding(seen).get('') ?? null
    const finding = reading === null ? ({ kind: 'clear' } as const) : judgeQueue(reason, reading)
    const change = warningChange(before, finding, suppressedBy !== null)
    // A value that cannot be read stands for nothing, and goes.
    if (change === null && (before !== null || seen === '')) return []
    const isRaised = change === 'raise' && finding.kind === 'over' && reading !== null
    const next: Standing = isRaised
      ? new Map([['', { level: finding.level, isMuted: suppressedBy !== null }]])
      : NOTHING_STANDS
    return [
      {
        ...{ team, name, reason, seen, suppressedBy, resource: { kind: 'queue', localId } },
        next: encodeStanding(next),
        facts: isRaised ? queueLimitFacts(reason, reading) : null,
      },
    ]
  })
}

function readingOf(row: Row, { nowMs, settings }: Around): QueueReading {
  const [, , active, limit, slotsTaken, ready, oldestDue, expiring, , , , ...added] = row
  const nth = settings === null ? -1 : DLQ_RETENTION_DAYS.indexOf(settings.dlqRetentionDays)
  return {
    alertsEnabled: settings?.alertsEnabled ?? false,
    isActive: active === '1',
    // As everywhere, a damaged limit counts as 1.
    maxParallelism: limit === '' ? null : Number(limit) || 1,
    slotsTaken,
    ready,
    oldestReadyMs: oldestDue === '' ? null : Math.max(0, nowMs - Number(oldestDue)),
    addedDeadLetters: added[nth] ?? 0,
    expiringDeadLetters: expiring,
  }
}
