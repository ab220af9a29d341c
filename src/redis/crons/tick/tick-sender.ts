import { randomBytes } from 'node:crypto'
import { StorageFullError } from '../../../domain/errors.ts'
import { shardOfQueue, type Engine } from '../../base/engine/engine.ts'
import type { StepCall } from '../../base/engine/step.ts'
import { createSequence } from '../../jobs/enqueue/sequence.ts'
import { nameField, type ShardKeys } from '../../base/layout/keys.ts'
import { QueueNames } from '../../base/names/queue-names.ts'
import { tickCall, type NumberedEntry, type TickEntry } from './tick-call.ts'

/** Codes that tick.lua describes. */
type TickCode =
  | 'done'
  | 'outdated'
  | 'early'
  | 'stale_queue'
  | 'foreign_block'
  | 'running'
  | 'missing'
  | 'over_share'
  | 'draining'

interface TickReply {
  readonly woken: number
  /** One per entry. */
  readonly outcomes: ReadonlyArray<{ readonly code: TickCode; readonly value: string }>
}

/** A `tick` step that is ready to be sent, as often as needed; `entries` in the order of its answers. */
export interface PreparedTick {
  readonly entries: readonly NumberedEntry[]
  readonly call: StepCall
}

type NamedQueue = NumberedEntry['queue']
/** Why a run has no queue: its name has no id and gets none. */
type NoQueue = Exclude<Awaited<ReturnType<QueueNames['resolve']>>, object>

/** Sends the ticks of one shard. Owns this process's id blocks and queue ids there. Throws StoreUnavailableError. */
export class TickSender {
  readonly #engine: Engine
  readonly #keys: ShardKeys
  readonly #names: QueueNames
  readonly #sequence
  /** Marks the id blocks of this process. */
  readonly #nonce = randomBytes(6).toString('base64url')
  readonly #resendForMs: number

  /** @param options.resendForMs how long each step may be sent again */
  constructor(engine: Engine, { keys, resendForMs }: { keys: ShardKeys; resendForMs: number }) {
    this.#engine = engine
    this.#keys = keys
    this.#names = new QueueNames(engine)
    this.#sequence = createSequence(engine, keys)
    this.#resendForMs = resendForMs
  }

  /** Finds or makes the queue of a cron; null = its hidden queue. */
  async queueOf({
    cronId,
    team,
    settings,
  }: Pick<TickEntry, 'cronId' | 'team' | 'settings'>): Promise<NamedQueue | NoQueue> {
    const { queue } = settings
    if (queue === null) return null
    if (shardOfQueue(this.#engine, team, queue) !== this.#keys)
      throw new Error(`cron ${cronId} lives elsewhere`)
    const field = nameField(team, queue)
    const found = await this.#names.resolve(this.#keys, field, this.#resendForMs)
    return typeof found === 'object' ? { field, localId: found.localId } : found
  }

  /** Gives the runs their ids and writes the step down; nothing counts before it is sent. */
  async prepare(entries: ReadonlyArray<TickEntry & { readonly queue: NamedQueue }>): Promise<PreparedTick> {
    const { jobIds, shards, runner } = this.#engine
    const { shard } = this.#keys
    const numbered: NumberedEntry[] = []
    for (const entry of entries) {
      const seqs = await this.#sequence.take(entry.run.length, this.#resendForMs)
      numbered.push({ ...entry, runs: seqs.map((seq) => ({ seq, jobId: jobIds.idOf(shard, seq, 1) })) })
    }
    const nowMs = runner.redisNowMs(shard)
    return tickCall(numbered, { keys: this.#keys, shards: shards.length, nonce: this.#nonce, nowMs })
  }

  /** Throws StorageFullError too. */
  async send({ entries, call }: PreparedTick): Promise<TickReply> {
    const reply = (await this.#engine.runner.run(call, this.#resendForMs)) as string
    if (reply === 'full') throw new StorageFullError()
    const [now, woken, ...words] = reply.split(' ')
    this.#engine.runner.noteRedisTime(this.#keys.shard, Number(now))
    const outcomes: Array<TickReply['outcomes'][number]> = []
    for (let at = 0; at < words.length; at += 3) {
      const outcome = { code: words[at + 1] as TickCode, value: words[at + 2] ?? '-' }
      for (let i = 0; i < Number(words[at]); i += 1) outcomes.push(outcome)
    }
    entries.forEach(({ queue }, i) => {
      if (outcomes[i]?.code === 'stale_queue' && queue !== null) this.#names.forget(queue.field)
    })
    if (outcomes.some(({ code }) => code === 'foreign_block')) this.#sequence.dropBlocks()
    return { woken: Number(woken), outcomes }
  }
}
