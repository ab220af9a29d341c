import type { SecretKeyRef } from '../../domain/access/signing-secret.ts'

/** A queue or cron. @property name of a cron: `metadata.name` */
export interface SecretOwner {
  readonly team: string
  readonly kind: 'queue' | 'cron'
  readonly name: string
}

/** Secrets that the calls of a queue or cron use in place of their team's. */
export interface OwnSecrets {
  /** Used in place of the team's, newest first, at most two; none = the team's sign, unless `areUnread`. */
  readonly signingSecrets: readonly string[]
  /** Places of the signing secrets, in the same order. */
  readonly signingSecretRefs: readonly SecretKeyRef[]
  /** Values of headers, by the header's name in lower case. */
  readonly headerValues: Readonly<Record<string, string>>
  /** Origin of the cron's URL, the only one to which the values are sent; absent without values. */
  readonly headerOrigin?: string
}

export const NO_OWN_SECRETS: OwnSecrets = Object.freeze({
  signingSecrets: Object.freeze([]),
  signingSecretRefs: Object.freeze([]),
  headerValues: Object.freeze({}),
})

/** Whether it is to have signing secrets that could not be read yet: none other must sign in their place. */
export function areUnread({ signingSecrets, signingSecretRefs }: OwnSecrets): boolean {
  return signingSecrets.length === 0 && signingSecretRefs.length > 0
}

/** Executors know what was applied within this time, unless they cannot read it. */
export const OWN_SECRETS_READ_MS = 1_000

export type OwnSecretsEnd =
  /** @property mustBeReadFirst executors must read them before settings are applied, which may need what is new */
  | { readonly status: 'applied'; readonly mustBeReadFirst?: boolean }
  /** The previous secrets stay. @property of whose limit was exceeded */
  | { readonly status: 'too_large'; readonly of: 'owner' | 'team' }
  | { readonly status: 'superseded' }

/** Applies them to the engine, as `SettingsCompiler` does. */
export interface OwnSecretsCompiler {
  /**
   * Creates or changes them; without any they are removed, and such that `areUnread` leave what is there. Throws
   * StorageFullError when Redis is full, unless they are removed.
   */
  putOwnSecrets(owner: SecretOwner, secrets: OwnSecrets): Promise<OwnSecretsEnd>
  /** Removes the applied header values that may not go on being sent to their origin. */
  withdrawHeaderValues(owner: SecretOwner, mayKeep: MayKeepHeader): Promise<OwnSecretsEnd>
}

/** @param header its name in lower case */
export type MayKeepHeader = (header: string, origin: string) => boolean

/** The secrets without header values that may not be kept; the same object when all may. */
export function withKeptHeaderValues(secrets: OwnSecrets, mayKeep: MayKeepHeader): OwnSecrets {
  const { headerValues, headerOrigin: origin, ...signing } = secrets
  const entries = Object.entries(headerValues)
  const kept = entries.filter(([header]) => origin === undefined || mayKeep(header, origin))
  if (kept.length === entries.length) return secrets
  return {
    ...signing,
    headerValues: Object.fromEntries(kept),
    ...(kept.length === 0 || origin === undefined ? {} : { headerOrigin: origin }),
  }
}

/** Answers from memory, as `TeamSettingsSource` does. */
export interface OwnSecretsSource {
  /** null = it has none; `unreadable`: they cannot be opened, and calls without them must not be made. */
  ownSecretsOf(owner: SecretOwner): OwnSecrets | 'unreadable' | null
}

/** Finds the places of signing secrets of queues and crons. Throws StoreUnavailableError. */
export interface SigningSecretRefs {
  /** Newest first; none = the team's sign. */
  of(owner: SecretOwner): Promise<readonly SecretKeyRef[]>
}
