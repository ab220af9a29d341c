import type { SecretKeyRef } from '../../../domain/access/signing-secret.ts'
import type { OwnSecrets, SecretOwner, SigningSecretRefs } from '../../../ports/access/own-secrets.ts'
import type { Engine } from '../../base/engine/engine.ts'
import { SECRETS_KEY } from '../../base/layout/keys.ts'
import type { SecretBox } from '../../base/secret-box.ts'
import { textOf } from './stored-settings.ts'

/**
 * An entry of the hash `secrets`, whose field is `["team","queue or cron","name"]`: the version of the change, a blank,
 * and this as JSON. Each value is sealed, the references are not.
 */
interface StoredSecrets {
  readonly signing: readonly string[]
  /** `OwnSecrets.signingSecretRefs`, not sealed. */
  readonly signingRefs: readonly SecretKeyRef[]
  readonly headers: Readonly<Record<string, string>>
  /** `OwnSecrets.headerOrigin`. */
  readonly origin?: string | undefined
}

export function ownerField({ team, kind, name }: SecretOwner): string {
  return JSON.stringify([team, kind, name])
}

export function ownerOf(field: string): SecretOwner {
  const [team, kind, name] = JSON.parse(field) as [string, SecretOwner['kind'], string]
  return { team, kind, name }
}

export function encodeOwnSecrets(box: SecretBox, owner: SecretOwner, secrets: OwnSecrets): string {
  const { headerOrigin: origin } = secrets
  const stored: StoredSecrets = {
    signing: secrets.signingSecrets.map((text) => box.seal(text, ownSigningContext(owner))),
    signingRefs: secrets.signingSecretRefs,
    headers: mapped(secrets.headerValues, (text, name) =>
      box.seal(text, ownHeaderContext(owner, name, origin)),
    ),
    origin,
  }
  return JSON.stringify(stored)
}

/** Throws when they were sealed under another key, or for another owner. */
export function decodeOwnSecrets(box: SecretBox, field: string, value: string): OwnSecrets {
  const owner = ownerOf(field)
  const { signing, signingRefs, headers, origin } = JSON.parse(textOf(value)) as StoredSecrets
  return {
    signingSecrets: signing.map((sealed) => box.open(sealed, ownSigningContext(owner))),
    signingSecretRefs: signingRefs,
    headerValues: mapped(headers, (sealed, header) =>
      box.open(sealed, ownHeaderContext(owner, header, origin)),
    ),
    ...(origin === undefined ? {} : { headerOrigin: origin }),
  }
}

/** The text with all secrets under the first key; null = it is so already. Throws as `decodeOwnSecrets` does. */
export function ownSecretsSealedAnew(box: SecretBox, field: string, value: string): string | null {
  const secrets = decodeOwnSecrets(box, field, value)
  return areSealedAnew(box, value) ? null : encodeOwnSecrets(box, ownerOf(field), secrets)
}

/** Reads which Secrets the signing secrets come from. The references are not sealed, so no key is needed. */
export function createSigningSecretRefs(engine: Engine): SigningSecretRefs {
  return {
    of: async (owner) => {
      const value = await engine.runner.read((redis) => redis.hget(SECRETS_KEY, ownerField(owner)))
      return value === null ? [] : (JSON.parse(textOf(value)) as StoredSecrets).signingRefs
    },
  }
}

/** Whether all are sealed under the first key; the counterpart of `isSealedAnew` for teams. */
export function areSealedAnew(box: SecretBox, value: string): boolean {
  const { signing, headers } = JSON.parse(textOf(value)) as StoredSecrets
  return [...signing, ...Object.values(headers)].every((sealed) => box.isCurrent(sealed))
}

function ownSigningContext(owner: SecretOwner): string {
  return JSON.stringify([owner.team, owner.kind, owner.name, 'signing'])
}

/**
 * The context that a header value is sealed in. It contains the origin, so that someone who can write to Redis, and do
 * no more, cannot have the value sent elsewhere.
 */
function ownHeaderContext(owner: SecretOwner, header: string, origin: string | undefined): string {
  return JSON.stringify([owner.team, owner.kind, owner.name, 'header', header, origin])
}

function mapped(
  texts: Readonly<Record<string, string>>,
  turn: (text: string, key: string) => string,
): Readonly<Record<string, string>> {
  // Users choose the keys: `__proto__` may be one.
  const entries = Object.entries(texts).map(([key, text]) => [key, turn(text, key)] as const)
  return Object.assign(Object.create(null) as Record<string, string>, Object.fromEntries(entries))
}
