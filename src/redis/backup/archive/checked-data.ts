import { BackupError, reasonOf } from '../../../domain/errors.ts'
import { createShardKeys, KEY_PREFIX, META_KEY, shardPrefix } from '../../base/layout/keys.ts'
import { RdbReader, type RdbValue } from '../rdb/rdb-reader.ts'
import type { ArchiveHeader } from './archive-form.ts'

/** A value, or a part of one, and of which form it is. */
export interface OwnValue extends RdbValue {
  readonly version: number
}

/**
 * The data of all primaries of an archive as it comes: read to the last key, of which those of the installation are
 * answered. Knows in the end whether the archive holds an installation. Owns a reader for each primary.
 */
export class CheckedData {
  readonly #header: ArchiveHeader
  readonly #readers: readonly RdbReader[]
  readonly #marks: ReadonlyMap<string, number>
  readonly #prefixes: readonly string[]
  /** Which primary has a shard. */
  readonly #holders = new Map<number, number>()
  readonly #marked = new Set<number>()
  /** A shard that two primaries have a part of. */
  #torn: number | null = null
  #hasMeta = false
  #keys = 0

  constructor(header: Pick<ArchiveHeader, 'shards' | 'primaries' | 'database'>) {
    this.#header = header as ArchiveHeader
    this.#readers = header.primaries.map(() => new RdbReader())
    const shards = Array.from({ length: header.shards }, (_, shard) => shard)
    this.#marks = new Map(shards.map((shard) => [createShardKeys(shard).created, shard]))
    this.#prefixes = shards.map((shard) => shardPrefix(shard))
  }

  /** Keys of the installation so far. */
  get keys(): number {
    return this.#keys
  }

  /** @throws BackupError when the data is damaged */
  *push(primary: number, bytes: Buffer): Generator<OwnValue, void, void> {
    yield* this.#own(primary, (reader) => reader.push(bytes))
  }

  /** @throws BackupError when it is not complete, or holds no installation */
  *end(): Generator<OwnValue, void, void> {
    for (const primary of this.#readers.keys()) yield* this.#own(primary, (reader) => reader.end())
    if (this.#torn !== null) {
      throw new BackupError(
        `Shard ${this.#torn} was being moved to another node of the Cluster: make the backup when that is over.`,
      )
    }
    if (!this.#hasMeta) throw new BackupError(`It has no key ${META_KEY}, so it holds no installation.`)
    const missing = [...this.#marks.values()].filter((shard) => !this.#marked.has(shard))
    if (missing.length > 0) {
      throw new BackupError(`Of shard ${missing.join(', ')} it has no data: its part of Redis was emptied.`)
    }
  }

  *#own(primary: number, read: (reader: RdbReader) => Iterable<RdbValue>): Generator<OwnValue, void, void> {
    const reader = this.#readers[primary]!
    try {
      for (const value of read(reader)) {
        if (value.database !== this.#header.database || !isOwn(value.key)) continue
        if (value.isFirst) this.#note(value.key.toString(), primary)
        yield { ...value, version: reader.version }
      }
    } catch (error) {
      if (!(error instanceof BackupError)) throw error
      const { name } = this.#header.primaries[primary]!
      throw new BackupError(`The data of ${name} is damaged. ${reasonOf(error)}`, { cause: error })
    }
  }

  #note(key: string, primary: number): void {
    this.#keys += 1
    if (key === META_KEY) this.#hasMeta = true
    const mark = this.#marks.get(key)
    if (mark !== undefined) this.#marked.add(mark)
    if (this.#readers.length === 1) return
    const shard = this.#prefixes.findIndex((prefix) => key.startsWith(prefix))
    if (shard === -1) return
    const holder = this.#holders.get(shard) ?? primary
    this.#holders.set(shard, holder)
    if (holder !== primary) this.#torn = shard
  }
}

const OWN = Buffer.from(KEY_PREFIX)

function isOwn(key: Buffer): boolean {
  return key.length > OWN.length && key.compare(OWN, 0, OWN.length, 0, OWN.length) === 0
}
