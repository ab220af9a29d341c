/**
 * What may be reached. The order of the rules is the security of it: the never-list, then the installation's deny
 * list, then what is open to all, then the allow lists.
 */
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
  /** Closed to every team, whatever is allowed: the API server, our own Redis and pods. */
  readonly deny: readonly string[]
  /** The most a team may open for itself; null = all that is not denied, [] = nothing. */
  readonly allowable: readonly string[] | null
}

export interface EgressGuard extends EgressPolicy {
  /**
   * Judges what a host resolved to. All addresses must be allowed: one bad answer refuses the target.
   * @param hostname a parsed URL's host; @param addresses canonical texts, as resolvers and sockets give them
   */
  allowsAddresses(hostname: string, addresses: readonly string[], settings: TeamSettings): boolean
}

/** One text for every blocked target: a message that differed would tell what lies inside. */
export const BLOCKED_TARGET_MESSAGE = 'The target is not allowed by the egress policy.'

interface Openings {
  readonly name: string
  readonly team: EgressList
}

/** @throws {StartupError} naming the entry that is neither a CIDR block nor a host suffix */
export function createEgressGuard(installation: EgressSettings): EgressGuard {
  const allow = parseInstallationList(installation.allow)
  const deny = parseInstallationList(installation.deny)
  const allowable = installation.allowable === null ? null : parseInstallationList(installation.allowable)
  const teamListOf = createTeamLists()

  /** A list opens a target by its name or by its address, whichever it holds. */
  const opens = (list: EgressList, name: string, address: IpAddress) =>
    listsName(list, name) || listsAddress(list, address)

  const isOpened = ({ name, team }: Openings, address: IpAddress) =>
    opens(allow, name, address) ||
    (opens(team, name, address) && (allowable === null || opens(allowable, name, address)))

  const isDenied = (address: IpAddress) => isNeverReachable(address) || listsAddress(deny, address)

  function allowsAddress(openings: Openings, address: IpAddress): boolean {
    if (isDenied(address)) return false
    const inner = embeddedIpv4(address)
    if (inner === null) return isGlobal(address) || isOpened(openings, address)
    // An IPv6 spelling of an IPv4 address opens no more than that address, and nothing unasked.
    if (isDenied(inner)) return false
    return isOpened(openings, inner) || (isOpened(openings, address) && isGlobal(inner))
  }

  function allowsName({ name, team }: Openings): boolean {
    if (name === '' || hasSuffix(name, NEVER_NAMES) || listsName(deny, name)) return false
    if (!hasSuffix(name, LOCAL_NAMES) || listsName(allow, name)) return true
    // A block in `allowable` may cover what the name resolves to: that is decided at the call.
    return (
      listsName(team, name) &&
      (allowable === null || listsName(allowable, name) || allowable.ranges.length > 0)
    )
  }

  const allowsHost = rememberLast((hostname, settings) => {
    const literal = literalOf(hostname)
    const openings = { name: nameOf(hostname, literal), team: teamListOf(settings) }
    return literal === null ? allowsName(openings) : allowsAddress(openings, literal)
  })

  return {
    refusalOf: (url, settings) => (allowsHost(url.hostname, settings) ? null : 'blocked'),
    allowsAddresses: (hostname, addresses, settings) => {
      const openings = { name: nameOf(hostname, literalOf(hostname)), team: teamListOf(settings) }
      for (const text of addresses) {
        const address = parseIpAddress(text)
        if (address === null || !allowsAddress(openings, address)) return false
      }
      return addresses.length > 0
    },
  }
}

/** A host's name as lists hold it; empty for a literal, which no suffix may open. */
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

/** Settings are objects that never change, so their list is read once. */
function createTeamLists(): (settings: TeamSettings) => EgressList {
  const known = new WeakMap<TeamSettings, EgressList>()
  return (settings) => {
    let list = known.get(settings)
    if (list === undefined) {
      list = parseEgressList(settings.egressAllow)
      known.set(settings, list)
    }
    return list
  }
}

/** A team mostly pushes to one host, and nothing that a judgement rests on ever changes. */
function rememberLast(
  judge: (hostname: string, settings: TeamSettings) => boolean,
): (hostname: string, settings: TeamSettings) => boolean {
  const last = new WeakMap<TeamSettings, { readonly hostname: string; readonly allowed: boolean }>()
  return (hostname, settings) => {
    let judged = last.get(settings)
    if (judged?.hostname !== hostname) {
      judged = { hostname, allowed: judge(hostname, settings) }
      last.set(settings, judged)
    }
    return judged.allowed
  }
}
