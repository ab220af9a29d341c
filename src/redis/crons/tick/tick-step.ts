import { CRON_RECORDS_MAX, LEASE_MS } from '../../../domain/limits.ts'
import type { CronSettings } from '../../../domain/crons/cron.ts'
import { StorageFullError } from '../../../domain/errors.ts'
import { monthOf } from '../../../domain/quotas.ts'
import type { MissedTicks } from '../../../domain/crons/cron-tick.ts'
import type { JobRequest } from '../../../domain/jobs/job.ts'
import { DEFAULT_QUEUE_SETTINGS } from '../../../domain/jobs/queue-settings.ts'
import { HIDDEN_QUEUE_SETTINGS, missedRecord, requestOfRun } from '../../layout/cron-record.ts'
import { shardOfQueue, type Engine } from '../../client/engine.ts'
import { newQueueArguments, Positions } from '../../enqueue/enqueue-batch.ts'
import { encodeRequest } from '../../layout/job-record.ts'
import { indexPlace, nameField, type ShardKeys } from '../../layout/keys.ts'
import type { QueueNames } from '../../names/queue-names.ts'
import type { Sequence } from '../../enqueue/sequence.ts'
import type { Argument } from '../../client/step.ts'

/** A cron and what the `tick` step is to do with it. */
export interface TickEntry {
  readonly cronId: number
  readonly team: string
  readonly version: number
  readonly settings: CronSettings
  /** null = a run by hand. */
  readonly expectedMs: number | null
  readonly nextMs: number | null
  readonly missed: MissedTicks | null
  /** Ticks that run; for a run by hand, when it was asked for. */
  readonly run: readonly number[]
  /** A run that is noted as not ended, and has. */
  readonly endedRun: number | null
}

export interface TickOutcome {
  /** As the script says. */
  readonly code: 'd' | 'o' | 'e' | 'm' | 't' | 'r' | 'n' | 's'
  readonly value: string
}

export interface TickStepReply {
  readonly nowMs: number
  readonly woken: number
  readonly outcomes: readonly TickOutcome[]
}

/** What a step is sent with: this process's own numbers and names. */
export interface TickSender {
  readonly engine: Engine
  readonly keys: ShardKeys
  readonly names: QueueNames
  readonly sequence: Sequence
  readonly nonce: string
}

/** A `tick` step that is ready to be sent. */
export interface TickStep {
  readonly entries: readonly TickEntry[]
  /** Where their runs go; null = into their hidden queues. */
  readonly queues: ReadonlyArray<NamedQueue | null>
  /** The root ids drawn for each entry. */
  readonly jobIds: ReadonlyArray<readonly number[]>
  readonly keys: readonly string[]
  readonly args: readonly Argument[]
}

interface NamedQueue {
  readonly field: string
  readonly localId: string
}

/** Why the runs of an entry cannot be made: a queue of that name can be neither found nor made. */
export type NoQueue = Exclude<Awaited<ReturnType<QueueNames['resolve']>>, object>

/** Looks up or makes the queue of an entry. Throws StoreUnavailableError. */
export async function queueOf(
  { engine, keys, names }: TickSender,
  { cronId, team, settings }: Pick<TickEntry, 'cronId' | 'team' | 'settings'>,
  resendForMs: number,
): Promise<NamedQueue | NoQueue | null> {
  if (settings.queue === null) return null
  if (shardOfQueue(engine, team, settings.queue) !== keys) throw new Error(`cron ${cronId} lives elsewhere`)
  const field = nameField(team, settings.queue)
  const found = await names.resolve(keys, field, resendForMs)
  return typeof found === 'object' ? { field, localId: found.localId } : found
}

/** Sends it. Throws StoreUnavailableError and StorageFullError. */
export async function sendTick(
  { engine, keys, names, sequence }: TickSender,
  step: TickStep,
  resendForMs: number,
): Promise<TickStepReply> {
  const reply = (await engine.runner.run(
    { name: 'tick', keys: step.keys, args: step.args },
    resendForMs,
  )) as string
  if (reply === 'full') throw new StorageFullError()
  const [now, woken, ...words] = reply.split(' ')
  engine.runner.noteRedisTime(keys.shard, Number(now))
  const outcomes = step.entries.map((_, i): TickOutcome => {
    const code = words[i * 2] as TickOutcome['code']
    const queue = step.queues[i]
    if (code === 'm' && queue !== undefined && queue !== null) names.forget(queue.field)
    return { code, value: words[i * 2 + 1] ?? '-' }
  })
  if (outcomes.some(({ code }) => code === 't')) sequence.dropBlock()
  return { nowMs: Number(now), woken: Number(woken), outcomes }
}

/** What the step writes into a hidden queue and into one with a name, should it make one. */
const NEW_QUEUES = [HIDDEN_QUEUE_SETTINGS, DEFAULT_QUEUE_SETTINGS].flatMap(newQueueArguments)

/** What a step names and says. */
interface TickWords {
  readonly blocks: Positions<number>
  readonly teams: Positions<string>
  /** By their fields. */
  readonly named: ReadonlyMap<string, NamedQueue>
  /** Local ids of the hidden queues that get runs. */
  readonly hidden: readonly string[]
  /** Of all crons, and of all runs, in one text: every argument costs more than its bytes. */
  readonly crons: string
  readonly runs: string
  readonly requests: readonly string[]
  readonly jobIds: ReadonlyArray<readonly number[]>
}

/**
 * Draws the numbers of the runs and writes the step down; nothing of it counts before it is sent.
 * @param queues of the entries, in their order
 */
export async function buildTick(
  sender: TickSender,
  entries: readonly TickEntry[],
  queues: ReadonlyArray<NamedQueue | null>,
  resendForMs: number,
): Promise<TickStep> {
  const { engine, keys } = sender
  const { month, nextStartsMs } = monthOf(engine.runner.redisNowMs(keys.shard))
  const words = await wordsOf(sender, entries, queues, resendForMs)
  const { blocks, teams, named, hidden, jobIds } = words
  return {
    entries,
    queues,
    jobIds,
    keys: [
      ...[
        keys.clock,
        keys.executors,
        keys.queueIds,
        keys.ring,
        keys.settings,
        keys.settingsUses,
        keys.pushedBuckets,
        keys.cronsDue,
        keys.cronStates,
      ],
      ...[keys.teamUsage, keys.teams, keys.teamNumbers],
      ...entries.map(({ cronId }) => keys.cronRecords(String(cronId))),
      ...blocks.keys.map((block) => keys.jobIndex(block)),
      ...[...named.values()].flatMap(({ localId }) => {
        const { meta: q, ready: r, records: b, payloads: p, inFlight: a } = keys.queue(localId)
        return [q, r, b, p, a, keys.pushedBucket(localId)]
      }),
      ...hidden.flatMap((localId) => {
        const { meta: q, ready: r, records: b, payloads: p } = keys.queue(localId)
        return [q, r, b, p]
      }),
    ],
    args: [
      ...[LEASE_MS, engine.shards.length, keys.shard, sender.nonce, CRON_RECORDS_MAX],
      ...NEW_QUEUES,
      ...[
        blocks.keys.length,
        month,
        nextStartsMs,
        teams.keys.length,
        ...teams.keys,
        named.size,
        ...[...named.values()].flatMap(({ field, localId }) => [field, localId]),
      ],
      ...[words.crons, words.runs, ...words.requests],
    ],
  }
}

async function wordsOf(
  { engine, keys, sequence }: TickSender,
  entries: readonly TickEntry[],
  queues: ReadonlyArray<NamedQueue | null>,
  resendForMs: number,
): Promise<TickWords> {
  const blocks = new Positions<number>()
  const fields = new Positions<string>()
  const teams = new Positions<string>()
  const named = new Map<string, NamedQueue>()
  const hidden: string[] = []
  const jobIds: number[][] = []
  const requests: string[] = []
  let crons = ''
  let runs = ''
  for (const [i, entry] of entries.entries()) {
    const queue = queues[i] ?? null
    if (queue !== null) named.set(queue.field, queue)
    else if (entry.run.length > 0) hidden.push(String(Math.floor(entry.cronId / engine.shards.length)))
    crons += cronWords(entry, teams.of(entry.team), queue === null ? 0 : fields.of(queue.field))
    const drawn: number[] = []
    for (const tickMs of entry.run) {
      const seq = await sequence.next(resendForMs)
      const id = engine.jobIds.idOf(keys.shard, seq, 1)
      drawn.push(id)
      const { inline, large } = encodeRequest(requestOf(entry, tickMs))
      const { block, field } = indexPlace(seq)
      const timeout = String(entry.settings.timeoutSeconds).padStart(3, '0')
      runs += `${i + 1} ${blocks.of(block)} ${field} ${id} ${tickMs} ${timeout} ${large === '' ? '-' : 'l'};`
      requests.push(inline)
      if (large !== '') requests.push(large)
    }
    jobIds.push(drawn)
  }
  return { blocks, teams, named, hidden, crons, runs, requests, jobIds }
}

function requestOf({ cronId, settings, expectedMs }: TickEntry, tickMs: number): JobRequest {
  return requestOfRun(settings, { cronId, tickMs, isManual: expectedMs === null })
}

/** A cron of the step, in the step's words. */
function cronWords(entry: TickEntry, team: number, queue: number): string {
  const { cronId, version, expectedMs, nextMs, settings, endedRun, missed } = entry
  const forbids = settings.concurrencyPolicy === 'forbid' ? 1 : 0
  const record = missed === null ? '-' : missedRecord(missed)
  return `${cronId} ${version} ${expectedMs ?? '-'} ${nextMs ?? '-'} ${forbids} ${endedRun ?? '-'} ${team} ${queue} ${record};`
}
