import { createCipheriv, createDecipheriv, hkdfSync, randomBytes, type KeyObject } from 'node:crypto'

const KEY_BYTES = 32
const KEY_ID_BYTES = 6
const NONCE_BYTES = 12
const TAG_BYTES = 16
const FORM = 'v1'

interface BoxKey {
  readonly id: string
  readonly key: KeyObject
}

/**
 * Seals small secrets by AES-256-GCM: `v1.<key id>.<nonce(12) tag(16) text>` in base64url. The associated data is the
 * context of a secret, such as its team and its use, so that a sealed text that is copied to another team opens
 * nowhere. The key id says which key opens it, so that keys can be rotated.
 */
export class SecretBox {
  readonly #keys: readonly [BoxKey, ...BoxKey[]]

  /**
   * @param key 32 bytes; it seals, and opens
   * @param others that open what was sealed under them: the former key of a rotation, or the next one
   */
  constructor(key: KeyObject, others: readonly KeyObject[] = []) {
    this.#keys = [boxKeyOf(key), ...others.map(boxKeyOf)]
  }

  /** @param context such as the team and what the secret is for; it opens in the same context only */
  seal(text: string, context: string): string {
    const [{ id, key }] = this.#keys
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context))
    const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
    const bytes = Buffer.concat([nonce, cipher.getAuthTag(), sealed])
    return `${FORM}.${id}.${bytes.toString('base64url')}`
  }

  /** Throws when the text was sealed under a key that is not here, in another context, or changed since. */
  open(sealed: string, context: string): string {
    const [form, id, text] = sealed.split('.')
    if (form !== FORM || id === undefined || text === undefined) throw new Error('not a sealed secret')
    const found = this.#keys.find((one) => one.id === id)
    if (found === undefined) throw new Error(`sealed under key ${id}, which is not here`)
    return opened(found.key, Buffer.from(text, 'base64url'), context)
  }

  /** Whether it was sealed in this form, under the key that seals. */
  isCurrent(sealed: string): boolean {
    return sealed.startsWith(`${FORM}.${this.#keys[0].id}.`)
  }
}

function boxKeyOf(key: KeyObject): BoxKey {
  if (key.symmetricKeySize !== KEY_BYTES) throw new Error('the installation key has 32 bytes')
  const id = hkdfSync('sha256', key, '', 'punctual key id', KEY_ID_BYTES)
  return { id: Buffer.from(id).toString('hex'), key }
}

function opened(key: KeyObject, bytes: Buffer, context: string): string {
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES))
  decipher.setAAD(Buffer.from(context))
  decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
  const text = bytes.subarray(NONCE_BYTES + TAG_BYTES)
  return Buffer.concat([decipher.update(text), decipher.final()]).toString('utf8')
}
