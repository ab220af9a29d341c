import { createCipheriv, createDecipheriv, randomBytes, type KeyObject } from 'node:crypto'

/** Seals small secrets under the installation's key: AES-256-GCM, `nonce(12) tag(16) text`, base64. */
export interface SecretBox {
  seal(text: string): string
  /** Throws when the text was sealed under another key or changed since. */
  open(sealed: string): string
}

const NONCE_BYTES = 12
const TAG_BYTES = 16

/** @param key 32 bytes */
export function createSecretBox(key: KeyObject): SecretBox {
  if (key.symmetricKeySize !== 32) throw new Error('the installation key has 32 bytes')
  return {
    seal: (text) => {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', key, nonce)
      const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64')
    },
    open: (sealed) => {
      const bytes = Buffer.from(sealed, 'base64')
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES))
      decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
      return Buffer.concat([
        decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)),
        decipher.final(),
      ]).toString('utf8')
    },
  }
}
