/** Entries of the egress policy's lists: CIDR blocks and host suffixes, each with a port if need be. */
import { isBadPort, isRefusingPort } from './bad-ports.ts'
import { HOST_NAME_CHARACTERS_MAX } from './host-name.ts'
import { inRange, isLoopback, meet, parseIpRange, type IpAddress, type IpRange } from './ip-address.ts'

/** `suffix` and `range` together: a name at fixed addresses. At least one of them is there. */
export interface EgressEntry {
  /** Lower case, without dots at the ends; null = the entry is about addresses alone. */
  readonly suffix: string | null
  /** null = whatever the name resolves to. */
  readonly range: IpRange | null
  /** null = every port. */
  readonly port: number | null
}

export type EgressList = readonly EgressEntry[]

/** Target of a call, as far as it is known. */
export interface EgressTarget {
  /** Lower case, without a dot at the end; empty for a literal address, which no suffix covers. */
  readonly name: string
  readonly port: number
}

/** @param literal the address that the host is, if it is one */
export function egressTargetOf({ hostname, port, protocol }: URL, literal: IpAddress | null): EgressTarget {
  let end = hostname.length
  while (end > 0 && hostname.charCodeAt(end - 1) === 0x2e) end -= 1
  return {
    name: literal === null ? hostname.slice(0, end).toLowerCase() : '',
    port: port !== '' ? Number(port) : protocol === 'https:' ? 443 : 80,
  }
}

const LABEL = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/
const PORT = /:([1-9][0-9]{0,4})$/
const PORT_MAX = 65_535

/** Explains what is wrong with an entry, in a sentence that names it; null if the entry is valid. */
export function egressEntryProblem(entry: string): string | null {
  if (parseEntry(entry) !== null) return null
  const shown = JSON.stringify(entry)
  if (entry.includes('=')) {
    return `The egress entry ${shown} is not a host suffix with fixed addresses such as "example.com=203.0.113.0/24:443".`
  }
  if (/^[0-9a-f:.]+\/[0-9]+$/i.test(entry)) {
    return `The egress entry ${shown} is not a CIDR block: the address must be complete and have no bits set after the prefix.`
  }
  return `The egress entry ${shown} is neither a CIDR block such as "10.0.0.0/8" nor a host suffix such as "example.com", nor one of them with a port such as "example.com:443".`
}

/**
 * Reads a list and ignores malformed entries. In an allow list that opens less; a malformed entry of a deny list must be
 * refused beforehand with `egressEntryProblem`.
 */
export function parseEgressList(entries: readonly string[]): EgressList {
  return entries.flatMap((entry) => parseEntry(entry) ?? [])
}

/** Whether a list opens a target at an address. A port that browsers refuse too is opened by an entry that names it. */
export function opensAddress(list: EgressList, target: EgressTarget, address: IpAddress): boolean {
  return list.some((entry) => opensPort(entry, target.port, address) && coversAddress(entry, target, address))
}

/** Whether a list opens a name, at some address at least. */
export function opensName(list: EgressList, target: EgressTarget): boolean {
  return list.some((entry) => opensPort(entry, target.port, null) && coversName(entry, target))
}

/** Whether a list closes a target at an address, whatever its name resolves to otherwise. */
export function closesAddress(list: EgressList, target: EgressTarget, address: IpAddress): boolean {
  return list.some((entry) => coversPort(entry, target.port) && coversAddress(entry, target, address))
}

/** Whether a list closes a name at every address. */
export function closesName(list: EgressList, target: EgressTarget): boolean {
  return list.some(
    (entry) => entry.range === null && coversPort(entry, target.port) && coversName(entry, target),
  )
}

/** Whether there is a target that both entries cover. */
export function overlap(one: EgressEntry, other: EgressEntry): boolean {
  return (
    both(one.suffix, other.suffix, (a, b) => isBelow(a, b) || isBelow(b, a)) &&
    both(one.range, other.range, meet) &&
    both(one.port, other.port, (a, b) => a === b)
  )
}

/** null stands for everything. */
function both<T>(one: T | null, other: T | null, fit: (one: T, other: T) => boolean): boolean {
  return one === null || other === null || fit(one, other)
}

/** Whether a name is one of the suffixes or below one: `example.com` covers `api.example.com`. */
export function hasSuffix(name: string, suffixes: readonly string[]): boolean {
  return suffixes.some((suffix) => isBelow(name, suffix))
}

/** @returns null when the entry is malformed */
function parseEntry(entry: string): EgressEntry | null {
  const block = parseIpRange(entry)
  if (block !== null) return { suffix: null, range: block, port: null }
  const end = entry.indexOf('=')
  const [, portText] = PORT.exec(entry) ?? []
  const port = portText === undefined ? null : Number(portText)
  if (port !== null && port > PORT_MAX) return null
  const place = entry.slice(end + 1, portText === undefined ? undefined : -portText.length - 1)
  // `fd12::7:443` is an address: beside a name or a port, a single one needs its prefix.
  const range = place.includes(':') && !place.includes('/') ? null : parseIpRange(place)
  const suffix = end >= 0 ? suffixOf(entry.slice(0, end)) : range === null ? suffixOf(place) : null
  const isWhole = end >= 0 ? suffix !== null && range !== null : suffix !== null || range !== null
  return isWhole ? { suffix, range, port } : null
}

function coversAddress({ suffix, range }: EgressEntry, { name }: EgressTarget, address: IpAddress): boolean {
  return (suffix === null || isBelow(name, suffix)) && (range === null || inRange(address, range))
}

function coversName({ suffix }: EgressEntry, { name }: EgressTarget): boolean {
  return suffix !== null && isBelow(name, suffix)
}

function coversPort(entry: EgressEntry, port: number): boolean {
  return entry.port === null || entry.port === port
}

function opensPort(entry: EgressEntry, port: number, address: IpAddress | null): boolean {
  if (entry.port !== null) return entry.port === port
  return !isBadPort(port) || (isRefusingPort(port) && address !== null && isLoopback(address))
}

function isBelow(name: string, suffix: string): boolean {
  if (!name.endsWith(suffix)) return false
  return name.length === suffix.length || name.charCodeAt(name.length - suffix.length - 1) === 0x2e
}

/** `example.com` and `.example.com` mean the same: the name and all names below it. */
function suffixOf(entry: string): string | null {
  const name = entry.toLowerCase().replace(/^\./, '').replace(/\.$/, '')
  const labels = name.split('.')
  // A last label of digits only is a mistyped address, never a name (WHATWG URL, "ends in a number").
  const wellFormed = labels.every((label) => LABEL.test(label)) && !/^[0-9]+$/.test(labels.at(-1) ?? '')
  return wellFormed && name.length <= HOST_NAME_CHARACTERS_MAX ? name : null
}
