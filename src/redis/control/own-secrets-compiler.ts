import { isDeepStrictEqual } from 'node:util'
import type { SecretPlace } from '../../domain/access/signing-secret.ts'
import { SECRET_BYTES_PER_OWNER_MAX } from '../../domain/limits.ts'
import {
  areUnread,
  NO_OWN_SECRETS,
  type OwnSecrets,
  type OwnSecretsCompiler,
  type OwnSecretsEnd,
  type SecretOwner,
  type SigningSecretRefs,
} from '../../ports/access/own-secrets.ts'
import type { Engine } from '../client/engine.ts'
import { SECRETS_KEY } from '../layout/keys.ts'
import { putSetting } from './setting/put-setting.ts'
import { putSecrets } from './secrets/put-secrets.ts'
import { TeamBytes } from './secrets/team-bytes.ts'
import type { SecretBox } from '../sealing/secret-box.ts'
import { textOf } from './stored-settings.ts'

/**
 * Writes the secrets of queues and crons. Most have none, so which have some, and how large these are, is read once, when
 * the first of them is asked for: under an epoch nobody else writes them.
 */
export class OwnSecretsWriter implements OwnSecretsCompiler {
  readonly #engine: Engine
  readonly #box: SecretBox | null
  readonly #epoch: number | null
  #stored: Promise<StoredOwners> | null = null

  constructor(engine: Engine, box: SecretBox | null, epoch: number | null) {
    this.#engine = engine
    this.#box = box
    this.#epoch = epoch
  }

  async putOwnSecrets(owner: SecretOwner, secrets: OwnSecrets): Promise<OwnSecretsEnd> {
    const stored = await this.#storedOwners()
    const field = ownerField(owner)
    const isStored = stored.fields.has(field)
    const isUnconfirmed = stored.unconfirmed.has(field)
    if (hasNone(secrets)) {
      return isStored || isUnconfirmed ? this.#remove(stored, owner) : { status: 'applied' }
    }
    const box = this.#box
    if (box === null) throw new Error('this process has no key, so it applies no secrets')
    if (isStored && areUnread(secrets)) return { status: 'applied' }
    const value = isStored ? await this.#engine.runner.read((redis) => redis.hget(SECRETS_KEY, field)) : null
    const former = value === null ? null : openedOrNull(box, field, value)
    const mustBeReadFirst = isUnconfirmed || needsMore(former ?? NO_OWN_SECRETS, secrets)
    if (value !== null && former !== null && areSealedAnew(box, value) && areSame(former, secrets)) {
      stored.unconfirmed.delete(field)
      return { status: 'applied', mustBeReadFirst }
    }
    const text = encodeOwnSecrets(box, owner, secrets)
    if (bytesOf(secrets) > SECRET_BYTES_PER_OWNER_MAX) return this.#refuse(owner, { secrets, of: 'owner' })
    if (!areUnread(secrets) && !stored.bytes.fits({ team: owner.team, field }, text.length)) {
      return this.#refuse(owner, { secrets, of: 'team' })
    }
    const end = await this.#put(stored, owner, text)
    return end.status === 'applied' ? { ...end, mustBeReadFirst } : end
  }

  /** Without an entry the team's secrets would sign in place of those that are refused. */
  async #refuse(
    owner: SecretOwner,
    { secrets, of }: { readonly secrets: OwnSecrets; readonly of: 'owner' | 'team' },
  ): Promise<OwnSecretsEnd> {
    const unread = { ...NO_OWN_SECRETS, signingSecretRefs: secrets.signingSecretRefs ?? [] }
    const end = areUnread(unread) ? await this.putOwnSecrets(owner, unread) : null
    return end?.status === 'superseded' ? end : { status: 'too_large', of }
  }

  /** Waits for nothing before it has noted the bytes: other writes may be under way. */
  async #put(
    { fields, unconfirmed, bytes }: StoredOwners,
    owner: SecretOwner,
    text: string,
  ): Promise<OwnSecretsEnd> {
    const field = ownerField(owner)
    const entry = { team: owner.team, field }
    // After a write that failed, it may be there.
    bytes.note(entry, Math.max(bytes.of(field), text.length))
    unconfirmed.add(field)
    const end = await putSecrets(this.#engine, { epoch: this.#epoch, field, text })
    if (end === 'superseded') return { status: end }
    bytes.note(entry, text.length)
    unconfirmed.delete(field)
    fields.add(field)
    return { status: 'applied' }
  }

  async #remove({ fields, unconfirmed, bytes }: StoredOwners, owner: SecretOwner): Promise<OwnSecretsEnd> {
    const field = ownerField(owner)
    const removal = { hash: SECRETS_KEY, epoch: this.#epoch, field, text: '' }
    const end = await putSetting(this.#engine, removal)
    if (end === 'superseded') return { status: end }
    unconfirmed.delete(field)
    fields.delete(field)
    bytes.note({ team: owner.team, field }, 0)
    return { status: 'applied' }
  }

  #storedOwners(): Promise<StoredOwners> {
    this.#stored ??= readStoredOwners(this.#engine).catch((error: unknown) => {
      this.#stored = null
      throw error
    })
    return this.#stored
  }
}

interface StoredOwners {
  readonly fields: Set<string>
  /** The last write of these seemed to fail: what it stored may be there, but executors may not have read it. */
  readonly unconfirmed: Set<string>
  readonly bytes: TeamBytes
}

async function readStoredOwners(engine: Engine): Promise<StoredOwners> {
  return engine.runner.read(async (redis) => {
    const owners = (await redis.hkeys(SECRETS_KEY)).filter((field) => field.startsWith('['))
    const lengths = await Promise.all(owners.map((field) => redis.hstrlen(SECRETS_KEY, field)))
    const bytes = new TeamBytes()
    for (const [at, field] of owners.entries()) {
      const [team] = JSON.parse(field) as [string]
      bytes.note({ team, field }, lengths[at] ?? 0)
    }
    return { fields: new Set(owners), unconfirmed: new Set(), bytes }
  })
}

/** All are ASCII. */
function bytesOf({ signingSecrets, headerValues }: OwnSecrets): number {
  return [...signingSecrets, ...Object.values(headerValues)].reduce((sum, text) => sum + text.length, 0)
}

/** null = they cannot be read, so they are overwritten. */
function openedOrNull(box: SecretBox, field: string, value: string): OwnSecrets | null {
  try {
    return decodeOwnSecrets(box, field, value)
  } catch {
    return null
  }
}

function areSame(applied: OwnSecrets, secrets: OwnSecrets): boolean {
  return (
    isDeepStrictEqual(applied.signingSecrets, secrets.signingSecrets) &&
    isDeepStrictEqual(applied.signingSecretRefs, secrets.signingSecretRefs) &&
    isDeepStrictEqual({ ...applied.headerValues }, { ...secrets.headerValues }) &&
    applied.headerOrigin === secrets.headerOrigin
  )
}

/** Whether settings for these secrets could make calls fail at an executor that knows the former ones alone. */
function needsMore(former: OwnSecrets, { signingSecrets, headerValues, headerOrigin }: OwnSecrets): boolean {
  const headers = Object.keys(headerValues)
  return (
    (signingSecrets.length > 0 && former.signingSecrets.length === 0) ||
    (headers.length > 0 && headerOrigin !== former.headerOrigin) ||
    headers.some((header) => !Object.hasOwn(former.headerValues, header))
  )
}

/** The hash `secrets`: by `["team","queue or cron","name"]`, the version of the change, a blank, and this as JSON. Each text is sealed, but not where it lies. */
interface StoredSecrets {
  readonly signing: readonly string[]
  /** As `OwnSecrets.signingSecretRefs`, not sealed. */
  readonly signingRefs?: readonly SecretPlace[] | undefined
  readonly headers: Readonly<Record<string, string>>
  /** As `OwnSecrets.headerOrigin`. */
  readonly origin?: string | undefined
}

export function ownerField({ team, kind, name }: SecretOwner): string {
  return JSON.stringify([team, kind, name])
}

export function ownerOf(field: string): SecretOwner {
  const [team, kind, name] = JSON.parse(field) as [string, SecretOwner['kind'], string]
  return { team, kind, name }
}

function encodeOwnSecrets(box: SecretBox, owner: SecretOwner, secrets: OwnSecrets): string {
  const { headerOrigin: origin } = secrets
  const stored: StoredSecrets = {
    signing: secrets.signingSecrets.map((text) => box.seal(text, signingPlace(owner))),
    signingRefs: secrets.signingSecretRefs,
    headers: mapped(secrets.headerValues, (text, name) => box.seal(text, headerPlace(owner, name, origin))),
    origin,
  }
  return JSON.stringify(stored)
}

/** Throws when they were sealed under another key, or for another owner. */
export function decodeOwnSecrets(box: SecretBox, field: string, value: string): OwnSecrets {
  const owner = ownerOf(field)
  const { signing, signingRefs, headers, origin } = JSON.parse(textOf(value)) as StoredSecrets
  return {
    signingSecrets: signing.map((sealed) => box.open(sealed, signingPlace(owner))),
    ...(signingRefs === undefined ? {} : { signingSecretRefs: signingRefs }),
    headerValues: mapped(headers, (sealed, header) => box.open(sealed, headerPlace(owner, header, origin))),
    ...(origin === undefined ? {} : { headerOrigin: origin }),
  }
}

/** The text with all secrets under the first key; null = it is so already. Throws as `decodeOwnSecrets` does. */
export function ownSecretsSealedAnew(box: SecretBox, field: string, value: string): string | null {
  const secrets = decodeOwnSecrets(box, field, value)
  return areSealedAnew(box, value) ? null : encodeOwnSecrets(box, ownerOf(field), secrets)
}

/** Reads where they lie, for which no key is needed. */
export function createSigningSecretRefs(engine: Engine): SigningSecretRefs {
  return {
    of: async (owner) => {
      const value = await engine.runner.read((redis) => redis.hget(SECRETS_KEY, ownerField(owner)))
      return value === null ? [] : ((JSON.parse(textOf(value)) as StoredSecrets).signingRefs ?? [])
    },
  }
}

/** As `isSealedAnew` for teams. */
function areSealedAnew(box: SecretBox, value: string): boolean {
  const { signing, headers } = JSON.parse(textOf(value)) as StoredSecrets
  return [...signing, ...Object.values(headers)].every((sealed) => box.isCurrent(sealed))
}

function hasNone(secrets: OwnSecrets): boolean {
  const { signingSecrets, headerValues } = secrets
  return !areUnread(secrets) && signingSecrets.length === 0 && Object.keys(headerValues).length === 0
}

function signingPlace(owner: SecretOwner): string {
  return JSON.stringify([owner.team, owner.kind, owner.name, 'signing'])
}

/** With its origin: whoever can write to Redis alone must not have it sent elsewhere. */
function headerPlace(owner: SecretOwner, header: string, origin: string | undefined): string {
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
