import { isDeepStrictEqual } from 'node:util'
import { SECRET_BYTES_PER_OWNER_MAX } from '../../../domain/limits.ts'
import {
  areUnread,
  NO_OWN_SECRETS,
  type MayKeepHeader,
  type OwnSecrets,
  type OwnSecretsCompiler,
  type OwnSecretsEnd,
  type SecretOwner,
  withKeptHeaderValues,
} from '../../../ports/access/own-secrets.ts'
import type { Engine } from '../../base/engine/engine.ts'
import { SECRETS_KEY } from '../../base/layout/keys.ts'
import { putSetting } from './put-setting.ts'
import { putSecrets } from './put-secrets.ts'
import { TeamBytes } from './team-bytes.ts'
import type { SecretBox } from '../../base/secret-box.ts'
import {
  areSealedAnew,
  decodeOwnSecrets,
  encodeOwnSecrets,
  ownerField,
} from '../compiled/stored-own-secrets.ts'

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

  async withdrawHeaderValues(owner: SecretOwner, mayKeep: MayKeepHeader): Promise<OwnSecretsEnd> {
    const { fields, unconfirmed } = await this.#storedOwners()
    const field = ownerField(owner)
    if (!fields.has(field) && !unconfirmed.has(field)) return { status: 'applied' }
    const value = await this.#engine.runner.read((redis) => redis.hget(SECRETS_KEY, field))
    const former = value === null || this.#box === null ? null : openedOrNull(this.#box, field, value)
    // What nobody can open is sent by nobody.
    if (former === null) return { status: 'applied' }
    const kept = withKeptHeaderValues(former, mayKeep)
    return kept === former ? { status: 'applied' } : this.putOwnSecrets(owner, kept)
  }

  /** Refuses secrets, but writes an entry without values: with none, the team's secrets would sign in their place. */
  async #refuse(
    owner: SecretOwner,
    { secrets, of }: { readonly secrets: OwnSecrets; readonly of: 'owner' | 'team' },
  ): Promise<OwnSecretsEnd> {
    const unread = { ...NO_OWN_SECRETS, signingSecretRefs: secrets.signingSecretRefs }
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

function hasNone(secrets: OwnSecrets): boolean {
  const { signingSecrets, headerValues } = secrets
  return !areUnread(secrets) && signingSecrets.length === 0 && Object.keys(headerValues).length === 0
}
