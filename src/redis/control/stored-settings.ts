import { SCOPES } from '../../domain/access/permission.ts'
import { isUnlimited, NO_TERMS, type TokenTerms } from '../../domain/access/token-terms.ts'
import type { Channel, Member } from '../../domain/notifications/channel.ts'
import { NO_QUOTAS, QUOTA_NAMES, quotasOf, type TeamQuotas } from '../../domain/quotas.ts'
import type { CompiledToken, TeamPolicy, TeamSettings } from '../../ports/settings.ts'
import type { SecretBox } from './secret-box.ts'

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
  readonly signingSecrets: readonly string[]
  /** Only those that the team has. */
  readonly quotas: Partial<TeamQuotas>
  /** With sealed URLs. Earlier versions stored neither channels nor members. */
  readonly channels?: readonly Channel[]
  readonly members?: readonly Member[]
}

export function encodeTeam(
  box: SecretBox,
  { egressAllow, signingSecrets, quotas, channels = [], members = [] }: TeamPolicy,
): string {
  const stored: StoredTeam = {
    egressAllow,
    signingSecrets: signingSecrets.map((secret) => box.seal(secret)),
    quotas: setQuotas(quotas ?? NO_QUOTAS),
    channels: channels.map((channel) => withUrl(channel, (url) => box.seal(url))),
    members,
  }
  return JSON.stringify(stored)
}

/** Throws when the secrets were sealed under another key. */
export function decodeTeam(box: SecretBox, value: string): TeamSettings {
  const { version, text } = split(value)
  const { egressAllow, signingSecrets, quotas, channels = [], members = [] } = JSON.parse(text) as StoredTeam
  return {
    version,
    egressAllow,
    signingSecrets: signingSecrets.map((sealed) => box.open(sealed)),
    quotas: quotasOf(quotas),
    channels: channels.map((channel) => withUrl(channel, (sealed) => box.open(sealed))),
    members,
  }
}

function withUrl({ name, type, alertTypes, url }: Channel, turn: (url: string) => string): Channel {
  return { name, type, alertTypes, url: url === null ? null : turn(url) }
}

function setQuotas(quotas: TeamQuotas): Partial<TeamQuotas> {
  const given = QUOTA_NAMES.flatMap((name) => (quotas[name] === null ? [] : [[name, quotas[name]] as const]))
  return Object.fromEntries(given)
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

/** The accepted tokens, without those whose terms a later version has written. Early installations stored them by hash; such entries are ignored. */
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

/**
 * The token's SHA-256, base64url; behind it, after a blank, its terms as JSON, if there are any. Versions without terms
 * take all of that for the hash and refuse the token.
 */
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
  return Object.entries(hash).filter(([field]) => !field.startsWith('#'))
}

/** Whether a value has this text, of whatever version. */
export function hasText(value: string, text: string): boolean {
  return split(value).text === text
}

function split(value: string): { version: number; text: string } {
  const blank = value.indexOf(' ')
  return { version: Number(value.slice(0, blank)), text: value.slice(blank + 1) }
}
