import { cronScheduleOf, spreadOf, type CronSettings } from '../../../domain/crons/cron.ts'
import type { CronSchedule } from '../../../domain/crons/cron-schedule.ts'
import { missedTicks, oneMissed } from '../../../domain/crons/cron-tick.ts'
import { StoreUnavailableError } from '../../../domain/errors.ts'
import { CRON_RECORDS_MAX, LEASE_MS, STORE_DEADLINE_MS } from '../../../domain/limits.ts'
import type { Engine } from '../../base/engine/engine.ts'
import { step } from '../../base/engine/step.ts'
import {
  decodeState,
  definitionIn,
  encodeDefinition,
  missedRecord,
  scheduleHash,
} from '../../base/layout/cron-record.ts'
import { nameField, type ShardKeys } from '../../base/layout/keys.ts'
import { shardsText } from '../cron-shards.ts'
import type { BroughtCron, HomedCron } from './cron-steps.ts'

export const SET_CRON = step('set_cron', import.meta.url, {
  keys: [
    'clock',
    'executors',
    'cronsDue',
    'cronDefinitions',
    'cronStates',
    'cronRecords',
    'leaderEpoch',
    'cronIds',
    'cronShards',
    'cronAlerts',
  ],
  args: [
    'leaseMs',
    'cronId',
    'definition',
    'scheduleHash',
    'active',
    'spreadMs',
    'bytes',
    'firstTick',
    'askedMs',
    'epoch',
    'homeField',
    'shards',
    'overdueTick',
    'overdueRecord',
    'recordsMax',
    'state',
    'said',
    'threshold',
    'name',
    'title',
  ],
  rest: 'records',
})

/** Retries with another time, or after another tick came due. */
const TRIES_MAX = 4

export interface ScheduledCron extends HomedCron {
  readonly settings: CronSettings
  readonly schedule: CronSchedule
}

export interface CronTarget {
  /** Keys of the shard it is to live in. */
  readonly keys: ShardKeys
  /** Shards noted in its home shard. */
  readonly shards: readonly ShardKeys[]
  readonly brought: BroughtCron
  /** Epoch of the leader; null = there is no leader. */
  readonly epoch: number | null
}

export interface AppliedCron {
  readonly status: 'applied'
  readonly cronId: number
  readonly nextRunAtMs: number | null
}

/** Writes the settings of a cron to a shard. Throws StoreUnavailableError. */
export async function setCron(
  engine: Engine,
  { cronId, home, team, name, settings, schedule }: ScheduledCron,
  { keys, shards, brought, epoch }: CronTarget,
): Promise<AppliedCron | 'superseded' | 'conflict'> {
  const definition = encodeDefinition({ team, name }, settings)
  let overdue: OverdueTick | null = null
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const askedMs = engine.runner.redisNowMs(keys.shard)
    const call = SET_CRON.with({
      keys,
      cronId,
      definition,
      askedMs,
      epoch: epoch ?? '',
      cronRecords: keys.cronRecords(String(cronId)),
      leaseMs: LEASE_MS,
      scheduleHash: scheduleHash(settings),
      active: settings.isActive ? 1 : 0,
      spreadMs: spreadOf(cronId, settings.jitterSeconds),
      bytes: Buffer.byteLength(definition),
      firstTick: schedule.next(askedMs) ?? '',
      homeField: keys === home ? nameField(team, name) : '',
      shards: shardsText(home, shards),
      overdueTick: overdue?.tickMs ?? '',
      overdueRecord: overdue === null ? '' : missedSince(overdue, askedMs),
      recordsMax: CRON_RECORDS_MAX,
      state: brought.state,
      said: brought.said,
      threshold: settings.alertThreshold,
      name,
      title: JSON.stringify([settings.displayName]),
      records: brought.records,
    })
    const reply = await engine.runner.run(call, STORE_DEADLINE_MS)
    const [status, now, next, lastDefinition] = reply as [string, string, string, definition?: string]
    if (status === 'superseded' || status === 'conflict') return status
    engine.runner.noteRedisTime(keys.shard, Number(now))
    if (status === 'overdue') overdue = overdueTick(next, lastDefinition || brought.definition)
    if (status === 'set') return { status: 'applied', cronId, nextRunAtMs: next === '' ? null : Number(next) }
  }
  throw new StoreUnavailableError('The clock of Redis, or the tick of the cron, keeps changing')
}

/** A tick that was due before the cron counts from now on. */
interface OverdueTick {
  readonly tickMs: number
  readonly spreadMs: number
  /** Definition of the cron at that time; '' when lost. It may be damaged, and an edit must repair that. */
  readonly definition: string
}

function overdueTick(state: string, definition: string): OverdueTick {
  const { tickMs, spreadMs } = decodeState(state)
  if (tickMs === null) throw new Error('a cron without a tick cannot be overdue')
  return { tickMs, spreadMs, definition }
}

/** The record of the ticks from the overdue one to now. */
function missedSince({ tickMs, spreadMs, definition }: OverdueTick, nowMs: number): string {
  const defined = definitionIn(definition, true)
  const schedule = defined === null ? null : cronScheduleOf(defined.settings)
  const isKnown = schedule !== null && !('problem' in schedule)
  return missedRecord(isKnown ? missedTicks(schedule, tickMs, nowMs - spreadMs) : oneMissed(tickMs))
}
