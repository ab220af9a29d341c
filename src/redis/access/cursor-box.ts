import { createHmac, createSecretKey, hkdfSync, randomBytes } from 'node:crypto'
import { StorageFullError } from '../../domain/errors.ts'
import type { RedisConnection } from '../client/connection.ts'
import { asStoreFault } from '../client/faults.ts'
import { SecretBox } from '../sealing/secret-box.ts'
import { readMeta } from '../installation/installation.ts'

const KEY_BYTES = 32
/** A cursor names no place: it is checked against its list and filters when it is read. */
const CURSOR = 'cursor'
const LOGIN = 'login'

interface TextBox {
  seal(text: string): string
  open(sealed: string): string
}

/**
 * Makes cursors unreadable to clients, in the same way in every API of an installation. Its key lies in Redis, where all
 * that a cursor could tell can be read as well; so the API needs none of the keys that open secrets. Logins that have begun
 * are sealed by it for a place of their own, and digests are made with a key of their own from it.
 */
export async function openCursorBox(
  connection: Pick<RedisConnection, 'hgetall' | 'hsetnx'>,
): Promise<TextBox & { digest(text: string): string; readonly logins: TextBox }> {
  const own = randomBytes(KEY_BYTES).toString('base64')
  const meta: Record<string, string> = await readMeta(connection, { cursorKey: own }).catch(
    (error: unknown) => {
      // A Redis of before this key may be full: then this API alone reads its cursors, until it is restarted.
      if (asStoreFault(error) instanceof StorageFullError) return {}
      throw error
    },
  )
  const key = createSecretKey(Buffer.from(meta['cursorKey'] ?? own, 'base64'))
  const box = new SecretBox(key)
  const digestKey = Buffer.from(hkdfSync('sha256', key, '', 'digest', KEY_BYTES))
  const at = (place: string): TextBox => ({
    seal: (text) => box.seal(text, place),
    open: (sealed) => box.open(sealed, place),
  })
  return {
    ...at(CURSOR),
    logins: at(LOGIN),
    digest: (text) => createHmac('sha256', digestKey).update(text).digest('base64url'),
  }
}
