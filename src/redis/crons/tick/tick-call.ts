import type { CronSettings } from '../../../domain/crons/cron.ts'
import type { MissedTicks } from '../../../domain/crons/cron-tick.ts'
import type { JobRequest } from '../../../domain/jobs/job.ts'
import { DEFAULT_QUEUE_SETTINGS } from '../../../domain/jobs/queue-settings.ts'
import { CRON_RECORDS_MAX, LEASE_MS } from '../../../domain/limits.ts'
import { monthOf } from '../../../domain/quotas.ts'
import { step, type StepCall } from '../../client/step.ts'
import { Positions } from '../../enqueue/enqueue-batch.ts'
import { HIDDEN_QUEUE_SETTINGS, missedRecord, requestOfRun } from '../../layout/cron-record.ts'
import { encodeRequest, encodeSettings } from '../../layout/job-record.ts'
import { indexPlace, type ShardKeys } from '../../layout/keys.ts'

export const TICK = step('tick', import.meta.url, {
  keys: [
    ...(['clock', 'executors', 'queueIds', 'ring', 'settings', 'settingsUses', 'pushedBuckets'] as const),
    ...(['cronsDue', 'cronStates', 'teamUsage', 'teams', 'teamNumbers'] as const),
  ],
  args: [
    ...(['leaseMs', 'shards', 'nonce', 'recordsMax', 'month', 'monthEndsMs'] as const),
    ...(['hiddenHash', 'hiddenTimeout', 'hiddenJson', 'namedHash', 'namedTimeout', 'namedJson'] as const),
    ...(['crons', 'runs'] as const),
  ],
  rows: {
    lists: { keys: ['cronRecords'] },
    blocks: { keys: ['jobIndex'] },
    queues: {
      keys: ['pushedBucket'],
      queueKeys: ['meta', 'ready', 'records', 'payloads', 'inFlight'],
      args: ['field', 'localId'],
    },
    hiddenQueues: { queueKeys: ['meta', 'ready', 'records', 'payloads'] },
    teams: { args: ['team'] },
  },
  rest: 'requests',
})

/** A cron and what the step does with it. */
export interface TickEntry {
  readonly cronId: number
  readonly team: string
  readonly version: number
  readonly settings: CronSettings
  /** null = a run by hand. */
  readonly expectedMs: number | null
  readonly nextMs: number | null
  /** When it is looked at again; null = when its next tick is due. */
  readonly deferredToMs: number | null
  readonly missed: MissedTicks | null
  /** Ticks that run; for a run by hand, when it was asked for. */
  readonly run: readonly number[]
  /** Of the call that asked for a run by hand; absent = 0. */
  readonly callDepth?: number
  /** The run that the cron's state still calls running, if it has ended. */
  readonly endedRun: number | null
}

/** An entry, where its runs go and their root ids. */
export interface NumberedEntry extends TickEntry {
  /** null = the hidden queue of the cron. */
  readonly queue: { readonly field: string; readonly localId: string } | null
  readonly runs: ReadonlyArray<{ readonly seq: number; readonly jobId: number }>
}

const HIDDEN = encodeSettings(HIDDEN_QUEUE_SETTINGS)
const NAMED = encodeSettings(DEFAULT_QUEUE_SETTINGS)

/** Writes the step down. */
export function tickCall(
  entries: readonly NumberedEntry[],
  sender: { keys: ShardKeys; shards: number; nonce: string; nowMs: number },
): StepCall {
  const { keys, shards, nonce, nowMs } = sender
  const { month, nextStartsMs } = monthOf(nowMs)
  const { blocks, teams, named, hidden, ...texts } = textsOf(entries, shards)
  return TICK.with({
    ...{ keys, shards, nonce, month, ...texts },
    leaseMs: LEASE_MS,
    recordsMax: CRON_RECORDS_MAX,
    monthEndsMs: nextStartsMs,
    hiddenHash: HIDDEN.hash,
    hiddenTimeout: HIDDEN_QUEUE_SETTINGS.timeoutSeconds,
    hiddenJson: HIDDEN.json,
    namedHash: NAMED.hash,
    namedTimeout: DEFAULT_QUEUE_SETTINGS.timeoutSeconds,
    namedJson: NAMED.json,
    lists: entries.map(({ cronId }) => ({ cronRecords: keys.cronRecords(String(cronId)) })),
    blocks: blocks.map((block) => ({ jobIndex: keys.jobIndex(block) })),
    queues: named.map((queue) => ({ ...queue, pushedBucket: keys.pushedBucket(queue.localId) })),
    hiddenQueues: hidden.map((localId) => ({ localId })),
    teams: teams.map((team) => ({ team })),
  })
}

interface TickTexts {
  readonly blocks: readonly number[]
  readonly teams: readonly string[]
  readonly named: ReadonlyArray<NonNullable<NumberedEntry['queue']>>
  /** Local ids of the hidden queues that get runs. */
  readonly hidden: readonly string[]
  /** All crons in one text, and all runs in another: an argument costs more than its bytes. */
  readonly crons: string
  readonly runs: string
  readonly requests: readonly string[]
}

function textsOf(entries: readonly NumberedEntry[], shards: number): TickTexts {
  const blocks = new Positions<number>()
  const fields = new Positions<string>()
  const teams = new Positions<string>()
  const named = new Map<string, NonNullable<NumberedEntry['queue']>>()
  const hidden: string[] = []
  const requests: string[] = []
  let crons = ''
  let runs = ''
  entries.forEach((entry, i) => {
    const { queue } = entry
    if (queue !== null) named.set(queue.field, queue)
    else if (entry.run.length > 0) hidden.push(String(Math.floor(entry.cronId / shards)))
    crons += cronText(entry, {
      team: teams.of(entry.team),
      queue: queue === null ? 0 : fields.of(queue.field),
    })
    entry.runs.forEach(({ seq, jobId }, nth) => {
      const tickMs = entry.run[nth] as number
      const { inline, large } = encodeRequest(requestOf(entry, tickMs))
      const { block, field } = indexPlace(seq)
      const timeout = String(entry.settings.timeoutSeconds).padStart(3, '0')
      runs += `${i + 1} ${blocks.of(block)} ${field} ${jobId} ${tickMs} ${timeout} ${large === '' ? '-' : 'l'};`
      requests.push(inline)
      if (large !== '') requests.push(large)
    })
  })
  return { blocks: blocks.keys, teams: teams.keys, named: [...named.values()], hidden, crons, runs, requests }
}

function requestOf({ cronId, settings, expectedMs, callDepth }: TickEntry, tickMs: number): JobRequest {
  return requestOfRun(settings, { cronId, tickMs, isManual: expectedMs === null }, callDepth)
}

function cronText(entry: TickEntry, at: { team: number; queue: number }): string {
  const { cronId, version, expectedMs, nextMs, deferredToMs, settings, endedRun, missed } = entry
  const forbids = settings.concurrencyPolicy === 'forbid' ? 1 : 0
  const record = missed === null ? '-' : missedRecord(missed)
  const plan = `${expectedMs ?? '-'} ${nextMs ?? '-'} ${deferredToMs ?? '-'}`
  return `${cronId} ${version} ${plan} ${forbids} ${endedRun ?? '-'} ${at.team} ${at.queue} ${record};`
}
