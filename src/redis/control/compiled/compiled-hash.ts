import type { RedisConnection } from '../../base/client/connection.ts'
import { VERSION_FIELD } from './stored-settings.ts'

/** Sends reads to Redis. */
export type Reads = <T>(
  reads: (redis: Pick<RedisConnection, 'hget' | 'hgetall' | 'hscan'>) => Promise<T>,
) => Promise<T>

interface Damaged<Entry> {
  readonly field: string
  readonly value: string
  /** The entry that the read before took for this field. */
  readonly last: Entry | null
  /** Whether it was sound at the read before. Only then it is logged. */
  readonly isNew: boolean
  readonly defect: unknown
}

interface HashForm<Entry> {
  readonly key: string
  isEntry(field: string): boolean
  decode(field: string, value: string, last: Entry | null): Entry
  /** Answers the entry to use where `decode` throws; null = none. */
  instead(damaged: Damaged<Entry>): Entry | null
  /** Called with all entries after each read. */
  onRead?(entries: ReadonlyMap<string, Entry>): void
  /** Entries read at once (default: all). */
  readonly readAtOnce?: number
}

/**
 * One hash of compiled settings. The hash carries the version of its last change and is read again when that differs. An
 * entry that cannot be decoded stops no other. Owns the entries of the last read, which stay while Redis is away or has
 * lost the hash.
 */
export class CompiledHash<Entry> {
  readonly #form: HashForm<Entry>
  /** As last read; undefined before the first read, null where nothing was ever stored. */
  #version: string | null | undefined
  #entries: ReadonlyMap<string, Entry> = new Map()
  #damaged: ReadonlySet<string> = new Set()

  constructor(form: HashForm<Entry>) {
    this.#form = form
  }

  /** By field. */
  get entries(): ReadonlyMap<string, Entry> {
    return this.#entries
  }

  /**
   * Reads what has changed of several hashes. Whoever removes the last entry leaves the version, so hashes that are all
   * without one were lost with the data of Redis: then their entries stay until something is stored again.
   */
  static async refresh(reads: Reads, hashes: readonly CompiledHash<unknown>[]): Promise<'read' | 'lost'> {
    const versions = await Promise.all(
      hashes.map((hash) => reads((redis) => redis.hget(hash.#form.key, VERSION_FIELD))),
    )
    const isLost =
      versions.every((version) => version === null) &&
      hashes.some((hash) => typeof hash.#version === 'string')
    if (isLost) {
      for (const hash of hashes) hash.#version = null
      return 'lost'
    }
    await Promise.all(hashes.map((hash, i) => hash.#read(reads, versions[i] ?? null)))
    return 'read'
  }

  async #read(reads: Reads, version: string | null): Promise<void> {
    if (version === this.#version) return
    const { key, readAtOnce } = this.#form
    const [entries, damaged] = [new Map<string, Entry>(), new Set<string>()]
    const take = (field: string, value: string): void => {
      if (!this.#form.isEntry(field)) return
      const entry = this.#decode(field, value, damaged)
      if (entry !== null) entries.set(field, entry)
    }
    if (readAtOnce === undefined) {
      const hash = await reads((redis) => redis.hgetall(key))
      for (const [field, value] of Object.entries(hash)) take(field, value)
    } else {
      let cursor = '0'
      do {
        const [next, page] = await reads((redis) => redis.hscan(key, cursor, 'COUNT', readAtOnce))
        for (let i = 0; i < page.length; i += 2) take(page[i] ?? '', page[i + 1] ?? '')
        cursor = next
      } while (cursor !== '0')
    }
    this.#entries = entries
    this.#damaged = damaged
    this.#form.onRead?.(entries)
    // A change since the version was read raises it, so the next refresh reads again.
    this.#version = version
  }

  #decode(field: string, value: string, damaged: Set<string>): Entry | null {
    const last = this.#entries.get(field) ?? null
    try {
      return this.#form.decode(field, value, last)
    } catch (defect) {
      damaged.add(field)
      return this.#form.instead({ field, value, last, isNew: !this.#damaged.has(field), defect })
    }
  }
}
