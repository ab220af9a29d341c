/** Entries of the egress policy's allow and deny lists: CIDR blocks and host suffixes. */
import { HOST_NAME_CHARACTERS_MAX } from './host-name.ts'
import { inAnyRange, parseIpRange, type IpAddress, type IpRange } from './ip-address.ts'

export interface EgressList {
  readonly ranges: readonly IpRange[]
  /** Lower case, without dots at the ends. */
  readonly suffixes: readonly string[]
}

export const EMPTY_EGRESS_LIST: EgressList = Object.freeze({ ranges: [], suffixes: [] })

const LABEL = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/

/** What is wrong with an entry, as a sentence that names it; null when nothing is. */
export function egressEntryProblem(entry: string): string | null {
  if (parseIpRange(entry) !== null || suffixOf(entry) !== null) return null
  const shown = JSON.stringify(entry)
  if (/^[0-9a-f:.]+\/[0-9]+$/i.test(entry)) {
    return `The egress entry ${shown} is not a CIDR block: the address must be complete and have no bits set after the prefix.`
  }
  return `The egress entry ${shown} is neither a CIDR block such as "10.0.0.0/8" nor a host suffix such as "example.com".`
}

/**
 * Reads a list and ignores malformed entries. In an allow list that opens less; a malformed entry of a deny list must be
 * refused beforehand with `egressEntryProblem`.
 */
export function parseEgressList(entries: readonly string[]): EgressList {
  if (entries.length === 0) return EMPTY_EGRESS_LIST
  const ranges: IpRange[] = []
  const suffixes: string[] = []
  for (const entry of entries) {
    const range = parseIpRange(entry)
    const suffix = range === null ? suffixOf(entry) : null
    if (range !== null) ranges.push(range)
    else if (suffix !== null) suffixes.push(suffix)
  }
  return { ranges, suffixes }
}

export function listsAddress(list: EgressList, address: IpAddress): boolean {
  return inAnyRange(address, list.ranges)
}

/** @param name lower case, without a dot at the end; the empty name is in no list */
export function listsName(list: EgressList, name: string): boolean {
  return hasSuffix(name, list.suffixes)
}

/** Whether a name is one of the suffixes or below one: `example.com` covers `api.example.com`. */
export function hasSuffix(name: string, suffixes: readonly string[]): boolean {
  for (const suffix of suffixes) {
    if (!name.endsWith(suffix)) continue
    if (name.length === suffix.length || name.charCodeAt(name.length - suffix.length - 1) === 0x2e)
      return true
  }
  return false
}

/** `example.com` and `.example.com` mean the same: the name and all names below it. */
function suffixOf(entry: string): string | null {
  const name = entry.toLowerCase().replace(/^\./, '').replace(/\.$/, '')
  const labels = name.split('.')
  // A last label of digits only is a mistyped address, never a name (WHATWG URL, "ends in a number").
  const wellFormed = labels.every((label) => LABEL.test(label)) && !/^[0-9]+$/.test(labels.at(-1) ?? '')
  return wellFormed && name.length <= HOST_NAME_CHARACTERS_MAX ? name : null
}
