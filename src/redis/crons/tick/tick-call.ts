import type { CronSettings } from '../../../domain/crons/cron.ts'
import type { MissedTicks } from '../../../domain/crons/cron-tick.ts'
import type { JobRequest } from '../../../domain/jobs/job.ts'
import { DEFAULT_QUEUE_SETTINGS } from '../../../domain/jobs/queue-settings.ts'
import { CRON_RECORDS_MAX, LEASE_MS } from '../../../domain/limits.ts'
import { monthOf } from '../../../domain/quotas.ts'
import type { SendSpan } from '../../../ports/tracing/tracing.ts'
import { step, type StepCall } from '../../base/engine/step.ts'
import { Positions } from '../../jobs/enqueue/enqueue-batch.ts'
import { HIDDEN_QUEUE_SETTINGS, missedRecord, requestOfRun } from '../../base/layout/cron-record.ts'
import { encodeRequest } from '../../base/layout/job-record.ts'
import { encodeSettings } from '../../base/layout/queue-record.ts'
import { indexPlace, type ShardKeys } from '../../base/layout/keys.ts'

export const TICK = step('tick', import.meta.url, {
  keys: [
    'clock',
    'executors',
    'queueIds',
    'ring',
    'settings',
    'settingsUses',
    'pushedBuckets',
    'cronsDue',
    'cronStates',
    'teamUsage',
    'teams',
    'teamNumbers',
    'jobBlock',
  ],
  args: [
    'leaseMs',
    'shards',
    'nonce',
    'recordsMax',
    'month',
    'monthEndsMs',
    'hiddenHash',
    'hiddenTimeout',
    'hiddenJson',
    'namedHash',
    'namedTimeout',
    'namedJson',
    'stretches',
    'plain',
    'crons',
    'runs',
  ],
  rows: {
    lists: { keys: ['cronRecords'] },
    blocks: { keys: ['jobIndex'], args: ['block'] },
    queues: {
      keys: ['pushedBucket'],
      queueKeys: ['meta', 'ready', 'records', 'payloads', 'inFlight'],
      args: ['field', 'localId'],
    },
    hiddenQueues: { queueKeys: ['meta', 'ready', 'records', 'payloads'] },
    teams: { args: ['team'] },
    plainTicks: { keys: ['cronRecords'], queueKeys: ['meta', 'ready', 'records'] },
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
  /** Time of the next decision; null = when its next tick is due. */
  readonly deferredToMs: number | null
  readonly missed: MissedTicks | null
  /** Ticks that run; for a run by hand, when it was asked for. */
  readonly run: readonly number[]
  /** Their spans; null = it is not traced; absent = none is. */
  readonly spans?: ReadonlyArray<SendSpan | null>
  /** Call depth of the request that asked for a run by hand; absent = 0. */
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

/** @returns the step, and the entries in the order in which it answers */
export function tickCall(
  entries: readonly NumberedEntry[],
  sender: { keys: ShardKeys; shards: number; nonce: string; nowMs: number },
): { readonly call: StepCall; readonly entries: readonly NumberedEntry[] } {
  const { keys, shards, nonce, nowMs } = sender
  const { month, nextStartsMs } = monthOf(nowMs)
  const words = new TickWords(shards)
  const plain: NumberedEntry[] = []
  const others: NumberedEntry[] = []
  for (const entry of entries) {
    const request = plainRequestOf(entry)
    if (request !== null) words.addPlain(entry, request)
    ;(request === null ? others : plain).push(entry)
  }
  for (const entry of others) words.add(entry)
  const listOf = ({ cronId }: NumberedEntry) => ({ cronRecords: keys.cronRecords(String(cronId)) })
  const call = TICK.with({
    keys,
    shards,
    nonce,
    month,
    ...words.texts(),
    leaseMs: LEASE_MS,
    recordsMax: CRON_RECORDS_MAX,
    monthEndsMs: nextStartsMs,
    hiddenHash: HIDDEN.hash,
    hiddenTimeout: HIDDEN_QUEUE_SETTINGS.timeoutSeconds,
    hiddenJson: HIDDEN.json,
    namedHash: NAMED.hash,
    namedTimeout: DEFAULT_QUEUE_SETTINGS.timeoutSeconds,
    namedJson: NAMED.json,
    lists: others.map(listOf),
    blocks: words.blocks.keys.map((block) => ({ block, jobIndex: keys.jobIndex(block) })),
    queues: [...words.named.values()].map((queue) => ({
      ...queue,
      pushedBucket: keys.pushedBucket(queue.localId),
    })),
    hiddenQueues: words.hidden.map((localId) => ({ localId })),
    teams: words.teams.keys.map((team) => ({ team })),
    plainTicks: plain.map((entry) => ({ ...listOf(entry), localId: hiddenQueueOf(entry, shards) })),
  })
  return { call, entries: [...plain, ...others] }
}

function hiddenQueueOf({ cronId }: TickEntry, shards: number): string {
  return String(Math.floor(cronId / shards))
}

/** The request of a tick that is its cron's one due run, through its hidden queue, and nothing else; null = more is asked. */
function plainRequestOf(entry: NumberedEntry): string | null {
  const { queue, run, expectedMs, missed, deferredToMs, endedRun } = entry
  const isPlain = queue === null && missed === null && deferredToMs === null && endedRun === null
  if (!isPlain || expectedMs === null || run.length !== 1 || run[0] !== expectedMs) return null
  const { inline, large } = encodeRequest(requestOf(entry, expectedMs, 0))
  return large === '' ? inline : null
}

/** The words of a step as tick.lua reads them. An argument costs more than its bytes: what can, stands in one text. */
class TickWords {
  readonly blocks = new Positions<number>()
  readonly teams = new Positions<string>()
  readonly named = new Map<string, NonNullable<NumberedEntry['queue']>>()
  /** Local ids of the hidden queues that get other runs than plain ones. */
  readonly hidden: string[] = []
  readonly #shards: number
  readonly #fields = new Positions<string>()
  readonly #requests: string[] = []
  readonly #stretches: Array<{ readonly like: string; count: number }> = []
  #plain = ''
  #crons = ''
  #cronCount = 0
  #runs = ''

  constructor(shards: number) {
    this.#shards = shards
  }

  texts() {
    const stretches = this.#stretches.map(({ count, like }) => `${count} ${like};`).join('')
    return {
      stretches,
      plain: this.#plain,
      crons: this.#crons,
      runs: this.#runs,
      requests: this.#requests,
    }
  }

  /** All plain ticks come before the others. */
  addPlain(entry: NumberedEntry, request: string): void {
    const { cronId, version, team, expectedMs, nextMs, settings, runs } = entry
    const [{ seq, jobId }] = runs as [NumberedEntry['runs'][number]]
    const { block, field } = indexPlace(seq)
    const tick = `${expectedMs} ${nextMs ?? '-'} ${timeoutText(settings)}`
    const like = `${tick} ${this.teams.of(team)} ${this.blocks.of(block)} ${forbidsText(settings)}`
    const stretch = this.#stretches.at(-1)
    if (stretch?.like === like) stretch.count += 1
    else this.#stretches.push({ like, count: 1 })
    this.#plain += `${cronId} ${version} ${hiddenQueueOf(entry, this.#shards)} ${jobId} ${field} `
    this.#requests.push(request)
  }

  add(entry: NumberedEntry): void {
    const { queue } = entry
    if (queue !== null) this.named.set(queue.field, queue)
    else if (entry.run.length > 0) this.hidden.push(hiddenQueueOf(entry, this.#shards))
    this.#cronCount += 1
    this.#crons += cronText(entry, {
      team: this.teams.of(entry.team),
      queue: queue === null ? 0 : this.#fields.of(queue.field),
    })
    entry.runs.forEach(({ seq, jobId }, nth) => {
      const tickMs = entry.run[nth] as number
      const { inline, large } = encodeRequest(requestOf(entry, tickMs, nth))
      const { block, field } = indexPlace(seq)
      const place = `${this.#cronCount} ${this.blocks.of(block)} ${field}`
      this.#runs += `${place} ${jobId} ${tickMs} ${timeoutText(entry.settings)} ${large === '' ? '-' : 'l'};`
      this.#requests.push(inline)
      if (large !== '') this.#requests.push(large)
    })
  }
}

function timeoutText({ timeoutSeconds }: CronSettings): string {
  return String(timeoutSeconds).padStart(3, '0')
}

function forbidsText({ concurrencyPolicy }: CronSettings): string {
  return concurrencyPolicy === 'forbid' ? '1' : '0'
}

/** @param nth of the runs of the entry */
function requestOf(
  { cronId, settings, expectedMs, callDepth, spans }: TickEntry,
  tickMs: number,
  nth: number,
): JobRequest {
  const request = requestOfRun(settings, { cronId, tickMs, isManual: expectedMs === null }, callDepth)
  const trace = spans?.[nth]?.context
  return trace === undefined ? request : { ...request, trace }
}

function cronText(entry: TickEntry, at: { team: number; queue: number }): string {
  const { cronId, version, expectedMs, nextMs, deferredToMs, settings, endedRun, missed } = entry
  const forbids = forbidsText(settings)
  const record = missed === null ? '-' : missedRecord(missed)
  const plan = `${expectedMs ?? '-'} ${nextMs ?? '-'} ${deferredToMs ?? '-'}`
  return `${cronId} ${version} ${plan} ${forbids} ${endedRun ?? '-'} ${at.team} ${at.queue} ${record};`
}
