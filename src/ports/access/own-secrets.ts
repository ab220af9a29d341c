import type { SecretPlace } from '../../domain/access/signing-secret.ts'

/** A queue or cron. @property name of a cron: `metadata.name` */
export interface SecretOwner {
  readonly team: string
  readonly kind: 'queue' | 'cron'
  readonly name: string
}

/** What the calls of a queue or cron take from Secrets of their own. */
export interface OwnSecrets {
  /** In place of the team's, newest first, at most two; none = the team's sign, unless `areUnread`. */
  readonly signingSecrets: readonly string[]
  /** Where these lie, in the same order; earlier versions did not store it. */
  readonly signingSecretRefs?: readonly SecretPlace[]
  /** Values of headers, by the header's name in lower case. */
  readonly headerValues: Readonly<Record<string, string>>
  /** That of the cron's URL, to which alone the values are sent; absent without values. */
  readonly headerOrigin?: string
}

export const NO_OWN_SECRETS: OwnSecrets = Object.freeze({
  signingSecrets: Object.freeze([]),
  signingSecretRefs: Object.freeze([]),
  headerValues: Object.freeze({}),
})

/** Whether it is to have signing secrets that could not be read yet: none other must sign in their place. */
export function areUnread({ signingSecrets, signingSecretRefs = [] }: OwnSecrets): boolean {
  return signingSecrets.length === 0 && signingSecretRefs.length > 0
}

/** Within which executors know what was applied, unless they cannot read it. */
export const OWN_SECRETS_READ_MS = 1_000

export type OwnSecretsEnd =
  /** @property mustBeReadFirst executors must read them before settings are applied, which may need what is new */
  | { readonly status: 'applied'; readonly mustBeReadFirst?: boolean }
  /** Those of before stay. @property of whose bytes exceed their bound */
  | { readonly status: 'too_large'; readonly of: 'owner' | 'team' }
  | { readonly status: 'superseded' }

/** Applies them to the engine, as `SettingsCompiler` does. */
export interface OwnSecretsCompiler {
  /**
   * Creates or changes them; without any they are removed, and such that `areUnread` leave what is there. Throws
   * StorageFullError when Redis is full, unless they are removed.
   */
  putOwnSecrets(owner: SecretOwner, secrets: OwnSecrets): Promise<OwnSecretsEnd>
}

/** Answers from memory, as `TeamSettingsSource` does. */
export interface OwnSecretsSource {
  /** null = it has none; `unreadable`: they cannot be opened, and calls without them must not be made. */
  ownSecretsOf(owner: SecretOwner): OwnSecrets | 'unreadable' | null
}

/** Where the signing secrets of queues and crons lie. Throws StoreUnavailableError. */
export interface SigningSecretRefs {
  /** Newest first; none = the team's sign. */
  of(owner: SecretOwner): Promise<readonly SecretPlace[]>
}
