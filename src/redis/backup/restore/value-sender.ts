import type { Redis } from 'ioredis'
import { BackupError, reasonOf, StorageFullError } from '../../../domain/errors.ts'
import { asStoreFault } from '../../base/client/faults.ts'
import type { OwnValue } from '../archive/checked-data.ts'
import { ByteCursor } from '../rdb/byte-cursor.ts'
import { Crc64 } from '../rdb/crc64.ts'
import { TYPE } from '../rdb/value-shapes.ts'

/** Bytes of a batch. One batch is on its way while the next one is gathered. */
const BATCH_BYTES = 4 * 1024 ** 2
const BATCH_COMMANDS_MAX = 2_000
/** A larger command would hold up all others. */
const ELEMENTS_PER_COMMAND_MAX = 2_000
const FRACTION_BYTES = 8

export type RestoreClient = Pick<
  Redis,
  'hget' | 'hgetall' | 'hset' | 'hsetnx' | 'pexpireat' | 'restore' | 'sadd' | 'unlink' | 'zadd'
>

/**
 * Sends values to Redis: a whole one as the payload that its DUMP would answer, a large one by its elements. Owns what is
 * on its way, and what waits for it: a batch each.
 */
export class ValueSender {
  readonly #client: RestoreClient
  /** Asked before each batch; rejects when nothing more may be written. */
  readonly #onBatch: () => Promise<void>
  #before: Promise<unknown> = Promise.resolve()
  #batch: Array<() => Promise<unknown>> = []
  #batchBytes = 0

  constructor(client: RestoreClient, onBatch: () => Promise<void>) {
    this.#client = client
    this.#onBatch = onBatch
  }

  async send(value: OwnValue): Promise<void> {
    if (value.isFirst && value.isLast) this.#note(() => restored(this.#client, value), value.bytes.length)
    else this.#notePart(value)
    if (this.#batchBytes >= BATCH_BYTES || this.#batch.length >= BATCH_COMMANDS_MAX) await this.#turn()
  }

  /** Resolves when Redis has all. @throws BackupError */
  async settle(): Promise<void> {
    await this.#turn()
    await this.#before
  }

  #note(send: () => Promise<unknown>, bytes: number): void {
    this.#batch.push(send)
    this.#batchBytes += bytes
  }

  /** Waits for the batch before, and sends the one at hand. */
  async #turn(): Promise<void> {
    await this.#before
    await this.#onBatch()
    this.#before = Promise.all(this.#batch.map((send) => send()))
    // Told where it is waited for.
    this.#before.catch(() => undefined)
    this.#batch = []
    this.#batchBytes = 0
  }

  /** Commands to one key are carried out in the order in which they are sent. */
  #notePart({ key, type, expiresMs, bytes, isFirst, isLast }: OwnValue): void {
    if (isFirst) this.#note(() => this.#client.unlink(key), 0)
    const cursor = new ByteCursor(bytes)
    while (cursor.at < bytes.length) {
      const from = cursor.at
      const words = wordsOf(type, cursor)
      this.#note(() => this.#sendWords(key, type, words), cursor.at - from)
    }
    if (isLast && expiresMs !== null) this.#note(() => this.#client.pexpireat(key, expiresMs), 0)
  }

  #sendWords(key: Buffer, type: number, words: ReadonlyArray<Buffer | string>): Promise<unknown> {
    if (type === TYPE.set) return this.#client.sadd(key, ...words)
    if (type === TYPE.hash) return this.#client.hset(key, ...words)
    return this.#client.zadd(key, ...words)
  }
}

/** Takes some elements, as the command that adds them wants them. */
function wordsOf(type: number, cursor: ByteCursor): Array<Buffer | string> {
  const words: Array<Buffer | string> = []
  for (let count = 0; count < ELEMENTS_PER_COMMAND_MAX && cursor.at < cursor.bytes.length; count += 1) {
    const first = cursor.string()
    if (type === TYPE.set) words.push(first)
    else if (type === TYPE.hash) words.push(first, cursor.string())
    else words.push(scoreOf(cursor.take(FRACTION_BYTES)), first)
  }
  return words
}

/** Puts a whole value into place, whatever is there. */
export function restored(
  client: Pick<Redis, 'restore'>,
  { key, type, expiresMs, bytes, version }: OwnValue,
): Promise<unknown> {
  const end = Buffer.from([version & 0xff, version >> 8])
  const head = Buffer.from([type])
  const sum = new Crc64().update(head).update(bytes).update(end).digest()
  const payload = Buffer.concat([head, bytes, end, sum])
  return client.restore(key, expiresMs ?? 0, payload, 'REPLACE', 'ABSTTL')
}

/** The text that Redis reads the very same number from. */
function scoreOf(bytes: Buffer): string {
  const score = bytes.readDoubleLE(0)
  if (Number.isFinite(score)) return Object.is(score, -0) ? '-0' : String(score)
  return score > 0 ? '+inf' : '-inf'
}

/** A fault of Redis that the restore ends with, in a sentence. */
export function faultOf(error: unknown): unknown {
  if (error instanceof BackupError) return error
  const fault = asStoreFault(error)
  if (fault instanceof StorageFullError) {
    return new BackupError('Redis is full: raise its maxmemory, then run the restore once more.', {
      cause: error,
    })
  }
  const reason = reasonOf(fault)
  if (/Bad data format|DUMP payload version/.test(reason)) {
    return new BackupError(
      'Redis does not read the values of this backup: it is older than the Redis that they are from. Use one that is as new.',
      { cause: error },
    )
  }
  if (/^(?:NOPERM|ERR unknown command)/.test(reason)) {
    return new BackupError(
      `Redis refuses a command of the restore: ${reason}. See "Rights" in docs/reference/backup.md.`,
      {
        cause: error,
      },
    )
  }
  return fault
}
