import {
  EXPIRING_WITHIN_MS,
  GROWING_WITHIN_MS,
  judgeQueue,
  QUEUE_LIMITS,
  queueLimitFacts,
  warningChange,
  type QueueReading,
} from '../../../domain/alerts/limit-rules.ts'
import { DLQ_RETENTION_DAYS } from '../../../domain/limits.ts'
import type { ChainSettings } from '../../../domain/jobs/queue-settings.ts'
import type { SetAside } from '../../../domain/set-aside.ts'
import type { WindowSource } from '../../../ports/windows.ts'
import type { Engine } from '../../base/engine/engine.ts'
import { settingsIn } from '../../base/layout/queue-record.ts'
import { splitNameField, type ShardKeys } from '../../base/layout/keys.ts'
import type { QueueParts } from '../../jobs/queues/queue-parts.ts'
import {
  decodeStanding,
  encodeStanding,
  NOTHING_STANDS,
  warningField,
  type Standing,
} from './standing-warnings.ts'
import { muteOf, warn, type WarningChange } from './warn.ts'

const DAY_MS = 86_400_000

/** The spans of dead letters that are purged soon, and for each retention the span of those that were added lately. */
const SPANS = [
  { afterMs: null, untilMs: EXPIRING_WITHIN_MS },
  ...DLQ_RETENTION_DAYS.map((days) => ({
    afterMs: days * DAY_MS - GROWING_WITHIN_MS,
    untilMs: days * DAY_MS,
  })),
]

export const SCANNED_PARTS = { wantsSettings: true, spans: SPANS } as const

/** Raises and clears the warnings of queues. */
export async function scanQueues(
  engine: Engine,
  keys: ShardKeys,
  {
    read,
    windows,
    setAside,
  }: { readonly read: readonly QueueParts[]; readonly windows: WindowSource; readonly setAside: SetAside },
): Promise<void> {
  if (read.length === 0) return
  const fields = read.flatMap(({ localId }) =>
    QUEUE_LIMITS.map((reason) => warningField(reason, { kind: 'queue', localId })),
  )
  const standing = await engine.runner.read((redis) => redis.hmget(keys.limitWarnings, ...fields))
  const settings = new Map<string, ChainSettings | null>()
  for (const { settingsHash, settingsJson: json } of read) {
    if (json === null || settings.has(settingsHash)) continue
    settings.set(
      settingsHash,
      setAside.try({ settingsHash }, () => settingsIn(settingsHash, json), null),
    )
  }
  const changes = read.flatMap((parts, i) => {
    const around = { settings: settings.get(parts.settingsHash) ?? null, windows }
    const first = i * QUEUE_LIMITS.length
    const seen = standing.slice(first, first + QUEUE_LIMITS.length).map((text) => text ?? '')
    return setAside.try({ queue: parts.nameField }, () => changesOf(parts, seen, around), [])
  })
  await warn(engine, keys, { changes, setAside })
}

interface Around {
  /** null = the settings are missing or damaged. */
  readonly settings: ChainSettings | null
  readonly windows: WindowSource
}

/** @param standing the warnings that stand, for each reason */
function changesOf(parts: QueueParts, standing: readonly string[], around: Around): WarningChange[] {
  const { localId, nameField, nowMs } = parts
  // A hidden queue and one that was deleted have no name.
  const { team, queue: name } = nameField === '' ? { team: '', queue: '' } : splitNameField(nameField)
  const reading = nameField === '' ? null : readingOf(parts, around)
  const suppressedBy = team === '' ? null : muteOf(around.windows, { team, queue: name, nowMs })
  return QUEUE_LIMITS.flatMap((reason, nth): WarningChange[] => {
    const seen = standing[nth] ?? ''
    const before = decodeStanding(seen).get('') ?? null
    const finding = reading === null ? ({ kind: 'clear' } as const) : judgeQueue(reason, reading)
    const change = warningChange(before, finding, suppressedBy !== null)
    // A value that cannot be read stands for nothing, and is removed.
    if (change === null && (before !== null || seen === '')) return []
    const isRaised = change === 'raise' && finding.kind === 'over' && reading !== null
    const next: Standing = isRaised
      ? new Map([['', { level: finding.level, isMuted: suppressedBy !== null }]])
      : NOTHING_STANDS
    return [
      {
        team,
        name,
        reason,
        seen,
        suppressedBy,
        resource: { kind: 'queue', localId },
        next: encodeStanding(next),
        facts: isRaised ? queueLimitFacts(reason, reading) : null,
      },
    ]
  })
}

function readingOf(parts: QueueParts, { settings }: Around): QueueReading {
  const { isActive, throttle, maxParallelism, slotsTaken, counts, oldestReadyMs } = parts
  const [expiringDeadLetters = 0, ...added] = parts.deadInSpans
  const nth = settings === null ? -1 : DLQ_RETENTION_DAYS.indexOf(settings.dlqRetentionDays)
  return {
    alertsEnabled: settings?.alertsEnabled ?? false,
    // What keeps its jobs from beginning is not its limit.
    isActive: isActive && (throttle === null || throttle.reason === 'rate_limited'),
    maxParallelism,
    slotsTaken,
    ready: counts.pending,
    oldestReadyMs,
    addedDeadLetters: added[nth] ?? 0,
    expiringDeadLetters,
  }
}
