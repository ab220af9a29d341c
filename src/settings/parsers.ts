import { createSecretKey } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { isIP } from 'node:net'
import { isAbsolute, resolve } from 'node:path'
import { egressEntryProblem } from '../domain/net/egress-list.ts'
import { isCallableHost } from '../domain/net/host-name.ts'
import { parseIpRange } from '../domain/net/ip-address.ts'
import { ALL_ADDRESSES } from '../domain/net/listen-address.ts'

/** The value of a setting's text, or what would have been allowed. */
export type Parsed<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly allowed: string }

export type Parser<T> = (text: string) => Parsed<T>

const EGRESS_ENTRIES_MAX = 1000
const HOST_CHARACTERS_MAX = 253
const NAMESPACES_MAX = 50
const NAMESPACE = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/
const OBJECT_NAME = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/
const OBJECT_NAME_CHARACTERS_MAX = 253
const PASSWORD_CHARACTERS_MAX = 4096
const SECRETS_KEY_BYTES = 32
const OTHER_SECRETS_KEYS_MAX = 4
const TOKEN_CHARACTERS = /^[\x21-\x7e]{16,256}$/
/** The last label must start with a letter, otherwise it is a mistyped address. */
const HOST_NAME = /^(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/i
const BYTES = /^(0|[1-9][0-9]*)(?:([kmgt])i?)?b?$/i
const BYTES_POWER: Readonly<Record<string, number>> = { '': 0, k: 1, m: 2, g: 3, t: 4 }

export const found = <T>(value: T): Parsed<T> => ({ ok: true, value })
export const refused = (allowed: string): { ok: false; allowed: string } => ({ ok: false, allowed })

/** Types the parser of a setting that may be absent. */
export function optional<T>(parse: Parser<T>): Parser<T | null> {
  return parse
}

export function integerBetween(min: number, max: number): Parser<number> {
  const allowed = `a whole number from ${min} to ${max}`
  return (text) => {
    const value = /^(?:0|[1-9][0-9]{0,9})$/.test(text) ? Number(text) : -1
    return value >= min && value <= max ? found(value) : refused(allowed)
  }
}

/** A decimal such as `0.9`. */
export function fractionBetween(min: number, max: number): Parser<number> {
  const allowed = `a number from ${min} to ${max}`
  return (text) => {
    const value = /^0\.[0-9]{1,6}$/.test(text) ? Number(text) : -1
    return value >= min && value <= max ? found(value) : refused(allowed)
  }
}

export function oneOf<const T extends string>(values: readonly T[]): Parser<T> {
  const allowed = `one of ${values.join(', ')}`
  return (text) => {
    const value = values.find((candidate) => candidate === text)
    return value === undefined ? refused(allowed) : found(value)
  }
}

/** Parses a switch: as a flag it has no value, as a variable it needs one. */
export const parseSwitch: Parser<boolean> = (text) => {
  if (text === 'true' || text === '1') return found(true)
  if (text === 'false' || text === '0') return found(false)
  return refused('true or false')
}

/** Bytes with an optional unit, a power of 1024: `1g`, `512MiB`, `1073741824`. */
export function bytesBetween(min: number, max: number, allowed: string): Parser<number> {
  return (text) => {
    const match = BYTES.exec(text)
    if (match === null) return refused(allowed)
    const value = Number(match[1]) * 1024 ** (BYTES_POWER[match[2]?.toLowerCase() ?? ''] ?? 0)
    return value >= min && value <= max ? found(value) : refused(allowed)
  }
}

/** A quota, or none of this kind. @param parse of the number */
export function quota(parse: Parser<number>): Parser<number | null> {
  return (text) => {
    if (text === 'none') return found(null)
    const parsed = parse(text)
    return parsed.ok ? parsed : refused(`${parsed.allowed}, or none`)
  }
}

/** Made absolute, so that a change of the working directory cannot move it. */
export const parsePath: Parser<string> = (text) =>
  text.includes('\0') ? refused('a path without NUL characters') : found(resolve(text))

/** The resources of a cluster; anything else that names resources is the path of a folder. */
export const KUBERNETES = 'kubernetes'
const WITHOUT_RESOURCES = 'engine'

/** `kubernetes`, or the absolute path of a folder. */
export const parseResources: Parser<string> = (text) => {
  if (text === KUBERNETES) return found(text)
  if (text !== WITHOUT_RESOURCES) return parsePath(text)
  return refused(
    `${KUBERNETES} or a folder such as ./resources; queues and crons are not kept in Redis alone`,
  )
}

export const parseListenHost: Parser<string> = (text) => {
  if (text === ALL_ADDRESSES) return found(text)
  const bare = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text
  if (isIP(bare) !== 0) return found(bare)
  return HOST_NAME.test(text) && text.length <= HOST_CHARACTERS_MAX
    ? found(text)
    : refused('an IP address or a host name of this machine, or * for all addresses')
}

export const parseToken: Parser<string> = (text) =>
  TOKEN_CHARACTERS.test(text) ? found(text) : refused('16 to 256 visible ASCII characters')

/** `redis://`, `rediss://`, or the absolute path of a unix socket. */
export const parseRedisUrl: Parser<string> = (text) => {
  const allowed = 'redis://host:port, rediss://host:port or the absolute path of a unix socket'
  if (isAbsolute(text)) return found(text)
  const url = URL.parse(text)
  const isRedis = url !== null && ['redis:', 'rediss:'].includes(url.protocol) && url.hostname !== ''
  return isRedis ? found(text) : refused(allowed)
}

/** Any text: a tool that generates passwords does not know where they are used. */
export const parsePassword: Parser<string> = (text) =>
  text !== '' && text.length <= PASSWORD_CHARACTERS_MAX
    ? found(text)
    : refused(`1 to ${PASSWORD_CHARACTERS_MAX} characters`)

/** The name of a pod or a Deployment. */
export const parseObjectName: Parser<string> = (text) =>
  OBJECT_NAME.test(text) && text.length <= OBJECT_NAME_CHARACTERS_MAX
    ? found(text)
    : refused(
        `a name of lower-case letters, digits, - and ., at most ${OBJECT_NAME_CHARACTERS_MAX} characters`,
      )

export const parseNamespace: Parser<string> = (text) =>
  NAMESPACE.test(text)
    ? found(text)
    : refused('a namespace: lower-case letters, digits and -, at most 63 characters')

/** Bounded, because each namespace is watched on its own connections. */
export const parseNamespaces: Parser<readonly string[]> = (text) => {
  const names = entriesOf(text)
  const isGood =
    names.length > 0 && names.length <= NAMESPACES_MAX && names.every((one) => NAMESPACE.test(one))
  return isGood
    ? found(Object.freeze([...new Set(names)]))
    : refused(`1 to ${NAMESPACES_MAX} namespaces separated by commas`)
}

/** CIDR blocks, addresses and host suffixes, separated by commas. */
export const parseEgressEntries: Parser<readonly string[]> = (text) => {
  const entries = entriesOf(text)
  const problem = entries.map(egressEntryProblem).find((one) => one !== null)
  if (problem !== undefined) {
    return refused(`CIDR blocks and host suffixes separated by commas. ${problem.replace(/\.$/, '')}`)
  }
  return entries.length > EGRESS_ENTRIES_MAX
    ? refused(`at most ${EGRESS_ENTRIES_MAX} entries`)
    : found(Object.freeze(entries))
}

/** Parses entries like `parseEgressEntries`; `any` is null, `none` is no entry. */
export const parseEgressAllowable: Parser<readonly string[] | null> = (text) => {
  if (text === 'any') return found(null)
  return text === 'none' ? found(Object.freeze([])) : parseEgressEntries(text)
}

/** CIDR blocks and addresses, separated by commas. */
export const parseCidrs: Parser<readonly string[]> = (text) => {
  const entries = entriesOf(text)
  const wrong = entries.find((entry) => parseIpRange(entry) === null)
  if (wrong !== undefined) {
    return refused(
      `CIDR blocks separated by commas, without bits after the prefix; ${JSON.stringify(wrong)} is none`,
    )
  }
  return entries.length > EGRESS_ENTRIES_MAX
    ? refused(`at most ${EGRESS_ENTRIES_MAX} entries`)
    : found(Object.freeze(entries))
}

/** Names and addresses as they stand in URLs, separated by commas. */
export const parseHosts: Parser<readonly string[]> = (text) => {
  const entries = entriesOf(text)
  const hosts = entries.map((entry) => (/[/?#@]/.test(entry) ? null : URL.parse(`http://${entry}`)))
  const wrong = entries.find((_, index) => !isBareHost(hosts[index] ?? null))
  if (wrong !== undefined) {
    return refused(`host names separated by commas, without ports; ${JSON.stringify(wrong)} is none`)
  }
  return entries.length > EGRESS_ENTRIES_MAX
    ? refused(`at most ${EGRESS_ENTRIES_MAX} entries`)
    : found(Object.freeze(hosts.flatMap((url) => url?.hostname ?? [])))
}

function isBareHost(url: URL | null): boolean {
  return url !== null && url.port === '' && isCallableHost(url.hostname)
}

export function entriesOf(list: string): string[] {
  return list
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
}

/** An AES-256 key. A KeyObject, so that printing the settings never prints the key. */
export const parseSecretsKey: Parser<KeyObject> = (text) => {
  const bytes = Buffer.from(text, 'base64')
  const isExact = bytes.length === SECRETS_KEY_BYTES && bytes.toString('base64') === text
  return isExact ? found(createSecretKey(bytes)) : refused('32 bytes in base64 (openssl rand -base64 32)')
}

/** Keys of a rotation, separated by commas. */
export const parseSecretsKeys: Parser<readonly KeyObject[]> = (text) => {
  const keys = entriesOf(text).map(parseSecretsKey)
  const found = keys.flatMap((key) => (key.ok ? [key.value] : []))
  return found.length === keys.length && keys.length <= OTHER_SECRETS_KEYS_MAX
    ? { ok: true, value: Object.freeze(found) }
    : refused(`at most ${OTHER_SECRETS_KEYS_MAX} keys separated by commas, each of 32 bytes in base64`)
}
