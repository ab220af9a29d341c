import { StartupError } from '../../domain/errors.ts'
import type { EgressPolicy } from '../../ports/http-caller.ts'
import type { TeamSettings } from '../../ports/settings.ts'
import {
  egressEntryProblem,
  hasSuffix,
  listsAddress,
  listsName,
  parseEgressList,
  type EgressList,
} from '../../domain/net/egress-list.ts'
import { literalOf, parseIpAddress, type IpAddress } from '../../domain/net/ip-address.ts'
import { embeddedIpv4, isGlobal, isNeverReachable, LOCAL_NAMES, NEVER_NAMES } from './special-addresses.ts'

/** The installation's rules. Entries are CIDR blocks and host suffixes. */
export interface EgressSettings {
  /** Open to every team. */
  readonly allow: readonly string[]
  /** Closed to every team, even if allowed: the API server, our own Redis and pods. */
  readonly deny: readonly string[]
  /** The most that a team may open for itself; null = everything that is not denied, [] = nothing. */
  readonly allowable: readonly string[] | null
}

/** The same text for every blocked target: differences would reveal what exists inside the network. */
export const BLOCKED_TARGET_MESSAGE = 'The target is not allowed by the egress policy.'

/** What opens a target: its name, and the allow list of its team. */
interface Openings {
  readonly name: string
  readonly team: EgressList
}

/**
 * Decides which targets may be called. The order of its rules is security: the never-list, then the installation's deny
 * list, then what is open to everyone, then the allow lists.
 */
export class EgressGuard implements EgressPolicy {
  readonly #allow: EgressList
  readonly #deny: EgressList
  readonly #allowable: EgressList | null
  /** Settings objects never change, so each list is parsed once. */
  readonly #teamLists = new WeakMap<TeamSettings, EgressList>()
  /** A team mostly pushes to one host, and nothing that a decision depends on ever changes. */
  readonly #lastHosts = new WeakMap<TeamSettings, { readonly hostname: string; readonly allowed: boolean }>()

  /** @throws {StartupError} naming the entry that is neither a CIDR block nor a host suffix */
  constructor({ allow, deny, allowable }: EgressSettings) {
    this.#allow = parseInstallationList(allow)
    this.#deny = parseInstallationList(deny)
    this.#allowable = allowable === null ? null : parseInstallationList(allowable)
  }

  refusalOf(url: URL, settings: TeamSettings): 'blocked' | null {
    let last = this.#lastHosts.get(settings)
    if (last?.hostname !== url.hostname) {
      last = { hostname: url.hostname, allowed: this.#allowsHost(url.hostname, settings) }
      this.#lastHosts.set(settings, last)
    }
    return last.allowed ? null : 'blocked'
  }

  /**
   * Decides about the addresses that a host resolved to. All must be allowed: one bad address refuses the target.
   * @param hostname the host of a parsed URL; @param addresses canonical texts, as resolvers and sockets give them
   */
  allowsAddresses(hostname: string, addresses: readonly string[], settings: TeamSettings): boolean {
    const openings = { name: nameOf(hostname, literalOf(hostname)), team: this.#teamListOf(settings) }
    for (const text of addresses) {
      const address = parseIpAddress(text)
      if (address === null || !this.#allowsAddress(openings, address)) return false
    }
    return addresses.length > 0
  }

  #allowsHost(hostname: string, settings: TeamSettings): boolean {
    const literal = literalOf(hostname)
    const openings = { name: nameOf(hostname, literal), team: this.#teamListOf(settings) }
    return literal === null ? this.#allowsName(openings) : this.#allowsAddress(openings, literal)
  }

  #allowsAddress(openings: Openings, address: IpAddress): boolean {
    if (this.#isDenied(address)) return false
    const inner = embeddedIpv4(address)
    if (inner === null) return isGlobal(address) || this.#isOpened(openings, address)
    // An IPv6 spelling of an IPv4 address must be opened itself, and opens no more than that address.
    if (this.#isDenied(inner)) return false
    return this.#isOpened(openings, inner) || (this.#isOpened(openings, address) && isGlobal(inner))
  }

  #allowsName({ name, team }: Openings): boolean {
    if (name === '' || hasSuffix(name, NEVER_NAMES) || listsName(this.#deny, name)) return false
    if (!hasSuffix(name, LOCAL_NAMES) || listsName(this.#allow, name)) return true
    const allowable = this.#allowable
    // A block in `allowable` may cover the address of the name: the call decides.
    return (
      listsName(team, name) &&
      (allowable === null || listsName(allowable, name) || allowable.ranges.length > 0)
    )
  }

  #isDenied(address: IpAddress): boolean {
    return isNeverReachable(address) || listsAddress(this.#deny, address)
  }

  #isOpened({ name, team }: Openings, address: IpAddress): boolean {
    if (opens(this.#allow, name, address)) return true
    return opens(team, name, address) && (this.#allowable === null || opens(this.#allowable, name, address))
  }

  #teamListOf(settings: TeamSettings): EgressList {
    let list = this.#teamLists.get(settings)
    if (list === undefined) {
      list = parseEgressList(settings.egressAllow)
      this.#teamLists.set(settings, list)
    }
    return list
  }
}

/** A list opens a target by its name or its address. */
function opens(list: EgressList, name: string, address: IpAddress): boolean {
  return listsName(list, name) || listsAddress(list, address)
}

/** A host name as lists have it; empty for a literal address, which no suffix may open. */
function nameOf(hostname: string, literal: IpAddress | null): string {
  if (literal !== null) return ''
  let end = hostname.length
  while (end > 0 && hostname.charCodeAt(end - 1) === 0x2e) end -= 1
  return hostname.slice(0, end).toLowerCase()
}

function parseInstallationList(entries: readonly string[]): EgressList {
  for (const entry of entries) {
    const problem = egressEntryProblem(entry)
    if (problem !== null) throw new StartupError(problem)
  }
  return parseEgressList(entries)
}
