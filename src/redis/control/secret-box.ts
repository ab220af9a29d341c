import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  hkdfSync,
  randomBytes,
  type KeyObject,
} from 'node:crypto'

const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Seals small secrets under the installation's key: AES-256-GCM, `nonce(12) tag(16) text`, base64. */
export class SecretBox {
  readonly #key: KeyObject

  /** @param key 32 bytes */
  constructor(key: KeyObject) {
    if (key.symmetricKeySize !== KEY_BYTES) throw new Error('the installation key has 32 bytes')
    this.#key = key
  }

  seal(text: string): string {
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonce)
    const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
    return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64')
  }

  /** A box for another purpose, which opens nothing of this one. */
  boxFor(purpose: string): SecretBox {
    const key = hkdfSync('sha256', this.#key, '', `punctual ${purpose}`, KEY_BYTES)
    return new SecretBox(createSecretKey(Buffer.from(key)))
  }

  /** Throws when the text was sealed under another key or changed since. */
  open(sealed: string): string {
    const bytes = Buffer.from(sealed, 'base64')
    const decipher = createDecipheriv('aes-256-gcm', this.#key, bytes.subarray(0, NONCE_BYTES))
    decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
    const text = bytes.subarray(NONCE_BYTES + TAG_BYTES)
    return Buffer.concat([decipher.update(text), decipher.final()]).toString('utf8')
  }
}
