import { hash } from 'node:crypto'
import type { OwnSecrets, SecretOwner } from '../../ports/access/own-secrets.ts'
import type { Logger } from '../../ports/runtime.ts'
import type { RedisConnection } from '../client/connection.ts'
import { SECRETS_KEY } from '../layout/keys.ts'
import type { SecretBox } from '../sealing/secret-box.ts'
import { decodeOwnSecrets, ownerField } from './own-secrets-compiler.ts'
import { VERSION_FIELD } from './stored-settings.ts'

/** Entries read at once: some 4 MB if each has SECRET_BYTES_PER_OWNER_MAX. */
const READ_AT_ONCE = 100

interface Read {
  /** Of what lies in Redis. */
  readonly digest: string
  readonly secrets: OwnSecrets | 'unreadable'
}

/**
 * The secrets of queues and crons as last read. One whose secrets cannot be opened keeps those of before, and
 * without any is `unreadable`. When Redis has lost them, those of before stay until the first is stored again. Owns what
 * was read last.
 */
export class CompiledOwnSecrets {
  readonly #logger: Pick<Logger, 'error'>
  #version: string | null = null
  #byOwner: ReadonlyMap<string, Read> = new Map()
  /** Each is logged once. */
  readonly #unopened = new Set<string>()

  constructor(logger: Pick<Logger, 'error'>) {
    this.#logger = logger
  }

  /** In pages, and opens only what has changed: a change of one team must not hold up the process for all. */
  async refresh(connection: Pick<RedisConnection, 'hget' | 'hscan'>, box: SecretBox): Promise<void> {
    const version = await connection.hget(SECRETS_KEY, VERSION_FIELD)
    if (version === this.#version) return
    this.#version = null
    // Lost with Redis' data: without them calls would be signed with the team's secrets, which are kept, too.
    if (version === null) return
    const byOwner = new Map<string, Read>()
    let cursor = '0'
    do {
      const [next, page] = await connection.hscan(SECRETS_KEY, cursor, 'COUNT', READ_AT_ONCE)
      for (let i = 0; i < page.length; i += 2) {
        const [field = '', value = ''] = page.slice(i, i + 2)
        if (field.startsWith('[')) byOwner.set(field, this.#read(box, field, value))
      }
      cursor = next
    } while (cursor !== '0')
    this.#byOwner = byOwner
    // A change since then raises the version, so the next look reads again.
    this.#version = version
  }

  of(owner: SecretOwner): OwnSecrets | 'unreadable' | null {
    return this.#byOwner.get(ownerField(owner))?.secrets ?? null
  }

  #read(box: SecretBox, field: string, value: string): Read {
    const digest = hash('sha256', value, 'base64')
    const last = this.#byOwner.get(field)
    return last?.digest === digest ? last : { digest, secrets: this.#open(box, field, value) }
  }

  #open(box: SecretBox, field: string, value: string): OwnSecrets | 'unreadable' {
    try {
      const opened = decodeOwnSecrets(box, field, value)
      this.#unopened.delete(field)
      return opened
    } catch {
      if (!this.#unopened.has(field)) {
        const reason = 'they were stored with another key: set PUNCTUAL_SECRETS_KEY to that key'
        this.#logger.error('Secrets of a queue or cron cannot be opened', { owner: field, reason })
      }
      this.#unopened.add(field)
      return this.#byOwner.get(field)?.secrets ?? 'unreadable'
    }
  }
}
