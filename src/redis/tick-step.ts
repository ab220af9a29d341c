import { CRON_RECORDS_MAX, LEASE_MS } from '../domain/limits.ts'
import type { CronSettings } from '../domain/cron.ts'
import type { MissedTicks } from '../domain/cron-tick.ts'
import type { QueueSettings } from '../domain/queue-settings.ts'
import { HIDDEN_QUEUE_SETTINGS, missedRecord, requestOfRun } from './cron-record.ts'
import { shardOfQueue, type Engine } from './engine.ts'
import { defaultsArguments, Positions } from './enqueue-batch.ts'
import { encodeRequest } from './job-record.ts'
import { indexPlace, nameField, type ShardKeys } from './keys.ts'
import type { QueueNames } from './queue-names.ts'
import type { Sequence } from './sequence.ts'
import type { Argument } from './step-runner.ts'

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
  readonly code: 'd' | 'o' | 'e' | 'm' | 't' | 'r' | 'n'
  readonly value: string
}

export interface TickStepReply {
  readonly nowMs: number
  readonly woken: number
  readonly outcomes: readonly TickOutcome[]
  /** The root ids drawn for each entry. */
  readonly jobIds: ReadonlyArray<readonly number[]>
}

/** What a step is sent with: this process's own numbers, names and defaults. */
export interface TickSender {
  readonly engine: Engine
  readonly keys: ShardKeys
  readonly names: QueueNames
  readonly sequence: Sequence
  readonly nonce: string
  defaultsOf(team: string): QueueSettings
}

interface RunQueue {
  readonly field: string
  readonly localId: string
  /** Whose hidden queue it is; '' = a queue with a name. */
  readonly hiddenOf: number | ''
}

/** Sends one `tick` step. Throws StoreUnavailableError and StorageFullError. */
export async function sendTick(
  sender: TickSender,
  entries: readonly TickEntry[],
  resendForMs: number,
): Promise<TickStepReply> {
  const { engine, keys, names } = sender
  const step = await buildStep(sender, entries, resendForMs)
  const reply = (await engine.runner.run('tick', step.keys, step.args, resendForMs)) as [
    string,
    number,
    ...string[],
  ]
  const [now, woken, ...flat] = reply
  engine.runner.noteRedisTime(keys.shard, Number(now))
  const outcomes = entries.map((_, i): TickOutcome => {
    const code = flat[i * 2] as TickOutcome['code']
    const queue = step.queues[i]
    if (code === 'm' && queue !== undefined) names.forget(queue.field)
    return { code, value: flat[i * 2 + 1] ?? '' }
  })
  if (outcomes.some(({ code }) => code === 't')) sender.sequence.dropBlock()
  return { nowMs: Number(now), woken, outcomes, jobIds: step.jobIds }
}

async function buildStep(sender: TickSender, entries: readonly TickEntry[], resendForMs: number) {
  const { engine, keys } = sender
  const blocks = new Positions<number>()
  const defaults = new Positions<QueueSettings>()
  const fields = new Positions<string>()
  const byField = new Map<string, RunQueue>()
  const queues: Array<RunQueue | undefined> = []
  const jobIds: number[][] = []
  const crons: Argument[] = []
  for (const entry of entries) {
    const queue = entry.run.length === 0 ? undefined : await queueOf(sender, entry, resendForMs)
    queues.push(queue)
    if (queue !== undefined) byField.set(`${queue.hiddenOf}/${queue.field}`, queue)
    crons.push(
      ...[entry.cronId, entry.version, entry.expectedMs ?? '', entry.nextMs ?? ''],
      ...[entry.settings.concurrencyPolicy === 'forbid' ? 1 : 0, entry.endedRun ?? ''],
      queue === undefined ? 0 : fields.of(`${queue.hiddenOf}/${queue.field}`),
      ...[entry.missed === null ? '' : missedRecord(entry.missed), entry.run.length],
    )
    const drawn: number[] = []
    for (const tickMs of entry.run) {
      const seq = await sender.sequence.next(resendForMs)
      drawn.push(engine.jobIds.idOf(keys.shard, seq, 1))
      crons.push(...runArguments(entry, tickMs, seq, blocks))
    }
    jobIds.push(drawn)
  }
  const named = fields.keys.map((field) => byField.get(field) as RunQueue)
  const queueArguments = named.flatMap(({ field, localId, hiddenOf }): Argument[] => {
    const team = field.slice(0, field.indexOf('/'))
    const settings = hiddenOf === '' ? sender.defaultsOf(team) : HIDDEN_QUEUE_SETTINGS
    return [field, localId, hiddenOf, defaults.of(settings)]
  })
  const defaultArguments = defaults.keys.flatMap((settings) => defaultsArguments(settings))
  return {
    queues,
    jobIds,
    keys: [
      ...[keys.clk, keys.ex, keys.names, keys.ring, keys.set, keys.setn, keys.pushed, keys.crons, keys.ks],
      ...entries.map(({ cronId }) => keys.kr(String(cronId))),
      ...blocks.keys.map((block) => keys.index(block)),
      ...named.flatMap(({ localId }) => {
        const { q, r, b, p, a } = keys.queue(localId)
        return [q, r, b, p, a, keys.pushedBucket(localId)]
      }),
    ],
    args: [
      ...[LEASE_MS, engine.shards.length, keys.shard, sender.nonce, CRON_RECORDS_MAX],
      ...[entries.length, blocks.keys.length, defaults.keys.length, ...defaultArguments],
      ...[named.length, ...queueArguments, ...crons],
    ],
  }
}

/** The hidden queue's name is that of its team alone. */
async function queueOf(
  { engine, keys, names }: TickSender,
  { cronId, team, settings }: TickEntry,
  resendForMs: number,
): Promise<RunQueue | undefined> {
  if (settings.queue === null) {
    const localId = String(Math.floor(cronId / engine.shards.length))
    return { field: nameField(team, ''), localId, hiddenOf: cronId }
  }
  if (shardOfQueue(engine, team, settings.queue) !== keys) throw new Error(`cron ${cronId} lives elsewhere`)
  const field = nameField(team, settings.queue)
  const found = await names.resolve(keys, field, resendForMs)
  if (typeof found === 'object') return { field, localId: found.localId, hiddenOf: '' }
  throw new Error(`the queue of cron ${cronId} cannot be made: ${found}`)
}

function runArguments(
  { cronId, settings, expectedMs }: TickEntry,
  tickMs: number,
  seq: number,
  blocks: Positions<number>,
): Argument[] {
  const isManual = expectedMs === null
  const { inline, large } = encodeRequest(requestOfRun(settings, { cronId, tickMs, isManual }))
  return [blocks.of(indexPlace(seq).block), seq, tickMs, settings.timeoutSeconds, inline, large]
}
