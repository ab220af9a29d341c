/** One newest, which signs first, and one older: enough for a rotation. */
export const SIGNING_SECRETS_MAX = 2
/** Random bytes of a signing secret. */
export const SIGNING_SECRET_BYTES = 32
/** Random bytes in the name of a Secret that we make. */
export const SECRET_NAME_BYTES = 4
/** The key in a Secret that we make. */
export const SIGNING_SECRET_KEY = 'secret'

/** Names the key of one of the team's Secrets, as `secretKeyRef` does in Kubernetes. */
export interface SecretKeyRef {
  readonly name: string
  readonly key: string
}

/** A signing secret as lists show it, without its value. */
export interface SigningSecret {
  /** See `signingSecretId`. */
  readonly id: string
  readonly secretRef: SecretKeyRef
  /** Unix ms; null when Punctual has not made it, or cannot see when. */
  readonly createdAtMs: number | null
}

/** Unique, as neither part may contain a colon. */
export function signingSecretId({ name, key }: SecretKeyRef): string {
  return `${name}:${key}`
}

/** @param random SECRET_NAME_BYTES of them */
export function nameOfNewSecret(random: Uint8Array): string {
  return `punctual-signing-${Buffer.from(random).toString('hex')}`
}

/** `whsec_` and base64, as Standard Webhooks has it. @param random SIGNING_SECRET_BYTES of them */
export function textOfSigningSecret(random: Uint8Array): string {
  return `whsec_${Buffer.from(random).toString('base64')}`
}

/** Why a team with these secrets gets no other; null = it gets one. */
export function refusalOfAnother(refs: readonly SecretKeyRef[]): string | null {
  const oldest = refs.at(-1)
  if (oldest === undefined || refs.length < SIGNING_SECRETS_MAX) return null
  return `The team has ${SIGNING_SECRETS_MAX} signing secrets, the most allowed: delete the older one, ${signingSecretId(oldest)}, once no receiver needs it.`
}
