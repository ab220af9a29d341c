import { createHmac, createSecretKey, hkdfSync, randomBytes } from 'node:crypto'
import type { RedisConnection } from '../../base/client/connection.ts'
import { SecretBox } from '../../base/secret-box.ts'
import { readMeta, whenThereIsRoom } from '../../base/installation/installation.ts'

const KEY_BYTES = 32
/** The context of all cursors is one: a cursor is checked against its list and filters when it is read. */
const CURSOR = 'cursor'
const LOGIN = 'login'

interface TextBox {
  seal(text: string): string
  open(sealed: string): string
}

/**
 * Makes cursors unreadable to clients, in the same way in every API of an installation. Its key lies in Redis, where all
 * that a cursor could tell can be read as well; so the API needs none of the keys that open secrets. The box also seals
 * logins that have begun, in a context of their own, and makes digests by a key derived from its own.
 */
export async function openCursorBox(
  connection: Pick<RedisConnection, 'hgetall' | 'hsetnx'>,
): Promise<TextBox & { digest(text: string): string; readonly logins: TextBox }> {
  const made = randomBytes(KEY_BYTES).toString('base64')
  const { cursorKey = '' } = await whenThereIsRoom(readMeta(connection, { cursorKey: made }))
  const key = createSecretKey(Buffer.from(cursorKey, 'base64'))
  const box = new SecretBox(key)
  const digestKey = Buffer.from(hkdfSync('sha256', key, '', 'digest', KEY_BYTES))
  const at = (context: string): TextBox => ({
    seal: (text) => box.seal(text, context),
    open: (sealed) => box.open(sealed, context),
  })
  return {
    ...at(CURSOR),
    logins: at(LOGIN),
    digest: (text) => createHmac('sha256', digestKey).update(text).digest('base64url'),
  }
}
