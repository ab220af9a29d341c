import { hash } from 'node:crypto'
import type { OwnSecrets } from '../../../ports/access/own-secrets.ts'
import type { Logger } from '../../../ports/runtime.ts'
import { SECRETS_KEY } from '../../base/layout/keys.ts'
import type { SecretBox } from '../../base/secret-box.ts'
import { CompiledHash } from './compiled-hash.ts'
import { decodeOwnSecrets } from './stored-own-secrets.ts'

/** Entries read at once: some 4 MB if each has SECRET_BYTES_PER_OWNER_MAX. */
const READ_AT_ONCE = 100

interface Read {
  /** Digest of the entry in Redis; null = it could not be opened. */
  readonly digest: string | null
  readonly secrets: OwnSecrets | 'unreadable'
}

/**
 * The secrets of queues and crons. They are read in pages, and only changed entries are opened: a change of one team must
 * not hold up the process for all. An owner whose new secrets cannot be opened keeps the former ones; without any it is
 * `unreadable`. The former ones also stay when Redis has lost them, or else calls would be signed with the team's secrets.
 */
export function compiledOwnSecrets(box: SecretBox, logger: Pick<Logger, 'error'>): CompiledHash<Read> {
  return new CompiledHash<Read>({
    key: SECRETS_KEY,
    isEntry: (field) => field.startsWith('['),
    readAtOnce: READ_AT_ONCE,
    decode: (field, value, last) => {
      const digest = hash('sha256', value, 'base64')
      return last?.digest === digest ? last : { digest, secrets: decodeOwnSecrets(box, field, value) }
    },
    instead: ({ field, last, isNew }) => {
      const reason = 'they were stored with another key: set PUNCTUAL_SECRETS_KEY to that key'
      if (isNew) logger.error('Secrets of a queue or cron cannot be opened', { owner: field, reason })
      return { digest: null, secrets: last?.secrets ?? 'unreadable' }
    },
  })
}
