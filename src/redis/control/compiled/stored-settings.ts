import { SCOPES } from '../../../domain/access/permission.ts'
import { isUnlimited, NO_TERMS, type TokenTerms } from '../../../domain/access/token-terms.ts'
import type { AppliedResources } from '../../../domain/managed-by.ts'
import type { Channel, Member } from '../../../domain/notifications/channel.ts'
import { NO_QUOTAS, QUOTA_NAMES, quotasOf, type TeamQuotas } from '../../../domain/quotas.ts'
import type { HeaderSecret } from '../../../domain/secrets/header-secret.ts'
import {
  type CompiledToken,
  NO_TEAM_SETTINGS,
  OWN_ADDRESSES_OF,
  type TeamPolicy,
  type TeamSettings,
} from '../../../ports/settings.ts'
import type { SecretBox } from '../../base/secret-box.ts'

/**
 * Compiled settings in Redis: the hash `teams` by team, the hash `tokens` by `["team","name"]`. A value is the version of
 * its change, a blank, and a text: the team's policy as JSON with each secret sealed, or the token (see `encodeToken`). Fields
 * that begin with `#` describe the hash itself: `#v` is the version of the last change, `#t` the highest epoch known.
 */
export const VERSION_FIELD = '#v'

/** The token that PUNCTUAL_TOKEN names; no resource can be called so. */
export const OWN_TOKEN_NAME = 'PUNCTUAL_TOKEN'

interface StoredTeam {
  readonly egressAllow: readonly string[]
  /** Sealed. */
  readonly signingSecrets: readonly string[]
  readonly signingSecretIds: readonly string[]
  /** The values are sealed; absent = none. */
  readonly headerSecrets?: readonly HeaderSecret[]
  /** Quotas that the team has; others are left out. */
  readonly quotas: Partial<TeamQuotas>
  /** The URLs are sealed. */
  readonly channels: readonly Channel[]
  readonly members: readonly Member[]
  readonly appliedResources?: AppliedResources
  /** Absent = none. */
  readonly maskedHeaders?: readonly string[]
}

export function encodeTeam(box: SecretBox, team: string, policy: TeamPolicy): string {
  const { egressAllow, signingSecrets, signingSecretIds = [], quotas, channels = [], members = [] } = policy
  const { appliedResources, headerSecrets = [], maskedHeaders = [] } = policy
  const stored: StoredTeam = {
    egressAllow,
    signingSecrets: signingSecrets.map((secret) => box.seal(secret, signingContext(team))),
    signingSecretIds,
    quotas: setQuotas(quotas ?? NO_QUOTAS),
    channels: channels.map((channel) =>
      withUrl(channel, (url) => box.seal(url, channelContext(team, channel))),
    ),
    members,
    ...(headerSecrets.length === 0
      ? {}
      : {
          headerSecrets: headerSecrets.map((secret) =>
            withValue(secret, (value) => box.seal(value, headerContext(team, secret))),
          ),
        }),
    ...(appliedResources === undefined ? {} : { appliedResources }),
    ...(maskedHeaders.length === 0 ? {} : { maskedHeaders }),
  }
  return JSON.stringify(stored)
}

/** @param box null = without secrets. Throws when the secrets were sealed under another key, or for another team. */
export function decodeTeam(box: SecretBox | null, team: string, value: string): TeamSettings {
  const { version, text } = split(value)
  const stored = JSON.parse(text) as StoredTeam
  const { egressAllow, signingSecrets, signingSecretIds, quotas, channels, members } = stored
  const { appliedResources, headerSecrets = [], maskedHeaders } = stored
  const open = (sealed: string, context: string): string | null => box?.open(sealed, context) ?? null
  return {
    version,
    egressAllow,
    signingSecrets: signingSecrets.flatMap((sealed) => open(sealed, signingContext(team)) ?? []),
    signingSecretIds,
    headerSecrets: headerSecrets.map((secret) =>
      withValue(secret, (sealed) => open(sealed, headerContext(team, secret))),
    ),
    quotas: quotasOf(quotas),
    channels: channels.map((channel) =>
      withUrl(channel, (sealed) => open(sealed, channelContext(team, channel))),
    ),
    members,
    ...(appliedResources === undefined ? {} : { appliedResources }),
    ...(maskedHeaders === undefined ? {} : { maskedHeaders }),
  }
}

/**
 * The part of a team's settings that can be read when its secrets cannot be opened: marked so that what they would sign
 * is not sent. A damaged team has none of its settings.
 */
export function unopenedTeam(team: string, value: string): TeamSettings {
  try {
    const { signingSecrets } = JSON.parse(split(value).text) as StoredTeam
    return { ...decodeTeam(null, team, value), isSigningUnreadable: signingSecrets.length > 0 }
  } catch {
    return { ...NO_TEAM_SETTINGS, isSigningUnreadable: true }
  }
}

/** The text with all secrets under the first key; null = it is so already. Throws as `decodeTeam` does. */
export function teamSealedAnew(box: SecretBox, team: string, value: string): string | null {
  const settings = decodeTeam(box, team, value)
  return isSealedAnew(box, value) ? null : encodeTeam(box, team, settings)
}

/** Whether all secrets of a team are sealed as `encodeTeam` would do it now. */
export function isSealedAnew(box: SecretBox, value: string): boolean {
  const { signingSecrets, headerSecrets = [], channels } = JSON.parse(split(value).text) as StoredTeam
  const values = headerSecrets.flatMap((secret) => secret.value ?? [])
  const urls = channels.flatMap(({ url }) => url ?? [])
  return [...signingSecrets, ...values, ...urls].every((one) => box.isCurrent(one))
}

function signingContext(team: string): string {
  return JSON.stringify([team, 'signing'])
}

/**
 * The context that a header value is sealed in. It contains the hosts, so that someone who can write to Redis, and do
 * no more, cannot have the value sent elsewhere.
 */
function headerContext(team: string, { name, hosts }: HeaderSecret): string {
  return JSON.stringify([team, 'header', name, hosts])
}

function channelContext(team: string, { name }: Channel): string {
  return JSON.stringify([team, 'channel', name])
}

function withValue(
  { name, hosts, value }: HeaderSecret,
  turn: (value: string) => string | null,
): HeaderSecret {
  return { name, hosts, value: value === null ? null : turn(value) }
}

function withUrl({ name, type, alertTypes, url }: Channel, turn: (url: string) => string | null): Channel {
  return { name, type, alertTypes, url: url === null ? null : turn(url) }
}

function setQuotas(quotas: TeamQuotas): Partial<TeamQuotas> {
  const given = QUOTA_NAMES.flatMap((name) => (quotas[name] === null ? [] : [[name, quotas[name]] as const]))
  return Object.fromEntries(given)
}

/** Addresses in the hash of own addresses; an entry that cannot be read counts as empty. */
export function addressesIn(hash: Readonly<Record<string, string>>): string[] {
  return OWN_ADDRESSES_OF.flatMap((of) => {
    const value = hash[of]
    if (value === undefined) return []
    try {
      const addresses: unknown = JSON.parse(split(value).text)
      return Array.isArray(addresses) ? addresses.filter((one) => typeof one === 'string') : []
    } catch {
      return []
    }
  })
}

export interface StoredToken {
  readonly team: string
  readonly name: string
}

export function tokenField({ team, name }: StoredToken): string {
  return JSON.stringify([team, name])
}

export interface AcceptedToken extends StoredToken {
  readonly version: number
  /** SHA-256, base64url. */
  readonly hash: string
  readonly terms: TokenTerms
}

/** The accepted tokens, without those whose terms a later version has written. */
export function tokensOf(hash: Readonly<Record<string, string>>): AcceptedToken[] {
  const fields = Object.entries(hash).filter(([field]) => field.startsWith('['))
  return fields.flatMap(([field, value]) => {
    const [team, name] = JSON.parse(field) as [string, string]
    const { version, text } = split(value)
    const [hash = '', stored] = text.split(/ (.*)/s)
    const terms = stored === undefined ? NO_TERMS : decodeTerms(stored)
    return terms === null ? [] : [{ team, name, version, hash, terms }]
  })
}

/** The token's SHA-256, base64url; behind it, after a blank, its terms as JSON, if there are any. */
export function encodeToken({ sha256Hex, terms }: CompiledToken): string {
  const hash = Buffer.from(sha256Hex, 'hex').toString('base64url')
  return isUnlimited(terms) ? hash : `${hash} ${JSON.stringify(terms)}`
}

/** null when these are terms of a later version: the token must not be accepted with fewer limits. */
function decodeTerms(text: string): TokenTerms | null {
  try {
    const terms = JSON.parse(text) as TokenTerms
    const isKnown =
      Object.keys(terms).every((key) => Object.hasOwn(NO_TERMS, key)) &&
      terms.scopes.every((scope) => SCOPES.includes(scope))
    return isKnown ? terms : null
  } catch {
    return null
  }
}

/** The teams, each with its value. */
export function teamsOf(hash: Readonly<Record<string, string>>): Array<[team: string, value: string]> {
  return Object.entries(hash).filter(([field]) => !isDescription(field))
}

/** Whether a field describes the hash itself. */
export function isDescription(field: string): boolean {
  return field.startsWith('#')
}

/** Whether a value has this text, of whatever version. */
export function hasText(value: string, text: string): boolean {
  return split(value).text === text
}

/** A value without the version of its change. */
export function textOf(value: string): string {
  return split(value).text
}

function split(value: string): { version: number; text: string } {
  const blank = value.indexOf(' ')
  return { version: Number(value.slice(0, blank)), text: value.slice(blank + 1) }
}
