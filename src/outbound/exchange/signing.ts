import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import type { TeamSettings } from '../../ports/settings.ts'

export interface SignedContent {
  readonly webhookId: string
  readonly timestampSeconds: number
  /** Body as sent, text in UTF-8; null for none. */
  readonly body: string | Uint8Array | null
}

/** A secret's two keys. */
interface SigningKeys {
  readonly punctual: KeyObject
  readonly webhook: KeyObject
}

const WEBHOOK_SECRET_PREFIX = 'whsec_'
const SIGNING_SECRETS_MAX = 2

const keysBySettings = new WeakMap<TeamSettings, readonly SigningKeys[]>()

/**
 * Appends the signature headers of a call, names and values in turn: Standard Webhooks 1.0 and `X-Punctual-Signature`,
 * with one or two active secrets; none if the team has no secret. docs/reference/signing.md says how to verify them.
 */
export function appendSignatureHeaders(
  headers: string[],
  content: SignedContent,
  settings: TeamSettings,
): void {
  const [newer, older] = keysOf(settings)
  if (newer === undefined) return
  const { webhookId, timestampSeconds, body } = content
  const punctualPrefix = `${timestampSeconds}.`
  const webhookPrefix = `${webhookId}.${timestampSeconds}.`

  const webhook = [`v1,${sign(newer.webhook, webhookPrefix, body, 'base64')}`]
  headers.push('X-Punctual-Timestamp', String(timestampSeconds))
  headers.push('X-Punctual-Signature', sign(newer.punctual, punctualPrefix, body, 'hex'))
  if (older !== undefined) {
    webhook.push(`v1,${sign(older.webhook, webhookPrefix, body, 'base64')}`)
    headers.push('X-Punctual-Signature-Previous', sign(older.punctual, punctualPrefix, body, 'hex'))
  }
  headers.push('webhook-signature', webhook.join(' '))
}

function sign(
  key: KeyObject,
  prefix: string,
  body: string | Uint8Array | null,
  encoding: 'hex' | 'base64',
): string {
  const hmac = createHmac('sha256', key).update(prefix)
  if (body !== null) hmac.update(body)
  return hmac.digest(encoding)
}

/** Settings objects never change, so their keys are created once. */
function keysOf(settings: TeamSettings): readonly SigningKeys[] {
  let keys = keysBySettings.get(settings)
  if (keys === undefined) {
    keys = settings.signingSecrets.slice(0, SIGNING_SECRETS_MAX).map(keysOfSecret)
    keysBySettings.set(settings, keys)
  }
  return keys
}

function keysOfSecret(secret: string): SigningKeys {
  return {
    // The configured text including its prefix, as a receiver copies it.
    punctual: createSecretKey(secret, 'utf8'),
    webhook: secret.startsWith(WEBHOOK_SECRET_PREFIX)
      ? createSecretKey(secret.slice(WEBHOOK_SECRET_PREFIX.length), 'base64')
      : createSecretKey(secret, 'utf8'),
  }
}
