import { StartupError } from '../../domain/errors.ts'
import type { EgressBounds, EgressPolicy } from '../../ports/http-caller.ts'
import type { TeamSettings } from '../../ports/settings.ts'
import { isBadPort } from '../../domain/net/bad-ports.ts'
import {
  closesAddress,
  closesName,
  egressEntryProblem,
  egressTargetOf,
  hasSuffix,
  opensAddress,
  opensName,
  overlap,
  parseEgressList,
  type EgressEntry,
  type EgressList,
  type EgressTarget,
} from '../../domain/net/egress-list.ts'
import {
  inAnyRange,
  isWithin,
  literalOf,
  parseIpAddress,
  type IpAddress,
  type IpRange,
} from '../../domain/net/ip-address.ts'
import type { ClosedAddresses } from './own-addresses.ts'
import { embeddedIpv4, isGlobal, isNeverReachable, LOCAL_NAMES, NEVER_NAMES } from './special-addresses.ts'

/** The installation's rules. Entries are CIDR blocks and host suffixes, with a port or fixed addresses if need be. */
export interface EgressSettings {
  /** Open to every team. */
  readonly allow: readonly string[]
  /** Closed to every team, even if allowed: the API server, our own Redis and pods. */
  readonly deny: readonly string[]
  /** The most that a team may open for itself; null = everything that is not denied, [] = nothing. */
  readonly allowable: readonly string[] | null
  /** CIDR blocks of the cluster's pods, services and nodes: closed even where they are public. */
  readonly clusterCidrs: readonly string[]
  /** Hosts of URLs that lead to our own API: closed but for what entries of `allow` open that name exactly this host. */
  readonly ownHosts: readonly string[]
}

const NONE: ClosedAddresses = Object.freeze({ has: () => false, generation: 0 })

/** The same text for every blocked target: differences would reveal what exists inside the network. */
export const BLOCKED_TARGET_MESSAGE = 'The target is not allowed by the egress policy.'

/** A target, and the allow list of its team. */
interface Call {
  readonly target: EgressTarget
  readonly team: EgressList
}

/**
 * Allow lists that open targets. For the cluster only an entry counts whose addresses are fixed and all inside of the
 * cluster. Neither a name nor a block around the cluster opens it, since others may own the one, and the other may not
 * have meant it.
 */
interface Openings {
  readonly allow: EgressList
  readonly allowable: EgressList | null
}

/**
 * Decides which targets may be called. The order of its rules is security: the never-list, then the installation's deny
 * list, then what is open to everyone, then the allow lists.
 */
export class EgressGuard implements EgressPolicy, EgressBounds {
  readonly #deny: EgressList
  readonly #own: ClosedAddresses
  readonly #cluster: readonly IpRange[]
  /** Each with the entries of `allow` that name exactly it. */
  readonly #ownHosts: ReadonlyMap<string, EgressList>
  readonly #openings: Openings
  readonly #clusterOpenings: Openings
  /** Settings objects never change, so each list is parsed once. */
  readonly #teamLists = new WeakMap<TeamSettings, EgressList>()
  /** A team mostly pushes to one host, and of what a decision depends on only our own addresses ever change. */
  readonly #lastOrigins = new WeakMap<
    TeamSettings,
    { readonly origin: string; readonly generation: number; readonly allowed: boolean }
  >()

  /**
   * @param own addresses that are closed like those of the deny list, and that may change
   * @throws {StartupError} naming the entry that cannot be read
   */
  constructor({ allow, deny, allowable, clusterCidrs, ownHosts }: EgressSettings, own = NONE) {
    this.#own = own
    this.#deny = parseInstallationList(deny)
    this.#cluster = parseInstallationList(clusterCidrs).flatMap(({ range }) => range ?? [])
    this.#openings = {
      allow: parseInstallationList(allow),
      allowable: allowable === null ? null : parseInstallationList(allowable),
    }
    this.#ownHosts = new Map(
      ownHosts.map((host) => [host, this.#openings.allow.filter(({ suffix }) => suffix === host)]),
    )
    this.#clusterOpenings = {
      allow: this.#fixedInCluster(this.#openings.allow),
      allowable: this.#fixedInCluster(this.#openings.allowable ?? []),
    }
  }

  /** Grows when the addresses of our own parts change: what was allowed before may be closed since. */
  get generation(): number {
    return this.#own.generation
  }

  refusalOf(url: URL, settings: TeamSettings): 'blocked' | null {
    const { origin } = url
    let last = this.#lastOrigins.get(settings)
    const { generation } = this.#own
    if (last?.origin !== origin || last.generation !== generation) {
      last = { origin, generation, allowed: this.#allowsUrl(url, settings) }
      this.#lastOrigins.set(settings, last)
    }
    return last.allowed ? null : 'blocked'
  }

  ineffectiveEntries(egressAllow: readonly string[]): readonly string[] {
    return egressAllow.filter((text) => parseEgressList([text]).some((entry) => !this.#mayOpen(entry)))
  }

  #mayOpen(entry: EgressEntry): boolean {
    const isInside = this.#isFixedInCluster(entry)
    const { allowable } = isInside ? this.#clusterOpenings : this.#openings
    return allowable === null || allowable.some((one) => overlap(one, entry))
  }

  /**
   * Decides about the addresses that the host of a URL resolved to. All must be allowed: one bad address refuses the
   * target.
   * @param addresses canonical texts, as resolvers and sockets give them
   */
  allowsAddresses(url: URL, addresses: readonly string[], settings: TeamSettings): boolean {
    const call = { target: egressTargetOf(url, literalOf(url.hostname)), team: this.#teamListOf(settings) }
    for (const text of addresses) {
      const address = parseIpAddress(text)
      if (address === null || !this.#allowsAddress(call, address)) return false
    }
    return addresses.length > 0
  }

  #allowsUrl(url: URL, settings: TeamSettings): boolean {
    const literal = literalOf(url.hostname)
    const call = { target: egressTargetOf(url, literal), team: this.#teamListOf(settings) }
    const closed = this.#ownHosts.get(literal === null ? call.target.name : url.hostname)
    if (closed !== undefined && !opensName(closed, call.target)) return false
    return literal === null ? this.#allowsName(call) : this.#allowsAddress(call, literal)
  }

  #allowsAddress(call: Call, address: IpAddress): boolean {
    if (this.#isDenied(call, address) || this.#isOwnHost(call, address)) return false
    const inner = embeddedIpv4(address)
    if (inner === null) return this.#isPublic(call, address) || this.#isOpened(call, address)
    // An IPv6 spelling of an IPv4 address must be opened itself, and opens no more than that address.
    if (this.#isDenied(call, inner)) return false
    return this.#isOpened(call, inner) || (this.#isOpened(call, address) && this.#isPublic(call, inner))
  }

  #allowsName({ target, team }: Call): boolean {
    const { name, port } = target
    if (name === '' || hasSuffix(name, NEVER_NAMES) || closesName(this.#deny, target)) return false
    const { allow, allowable } = this.#openings
    if (!hasSuffix(name, LOCAL_NAMES)) {
      // A block that names the port may cover the address of the name: the call decides.
      return !isBadPort(port) || [...allow, ...team].some((entry) => entry.port === port)
    }
    if (opensName(allow, target)) return true
    // Likewise a block in `allowable`.
    return (
      opensName(team, target) &&
      (allowable === null || opensName(allowable, target) || allowable.some(({ suffix }) => suffix === null))
    )
  }

  #isDenied({ target }: Call, address: IpAddress): boolean {
    return isNeverReachable(address) || this.#own.has(address) || closesAddress(this.#deny, target, address)
  }

  /** A host of ours, of which no entry that names it opens this address. */
  #isOwnHost({ target }: Call, address: IpAddress): boolean {
    const named = this.#ownHosts.get(target.name)
    return named !== undefined && !opensAddress(named, target, address)
  }

  /** Open to everybody, without an entry. */
  #isPublic({ target }: Call, address: IpAddress): boolean {
    return isGlobal(address) && !isBadPort(target.port) && !this.#isInCluster(address)
  }

  #isOpened({ target, team }: Call, address: IpAddress): boolean {
    const { allow, allowable } = this.#isInCluster(address) ? this.#clusterOpenings : this.#openings
    if (opensAddress(allow, target, address)) return true
    return (
      opensAddress(team, target, address) && (allowable === null || opensAddress(allowable, target, address))
    )
  }

  #isInCluster(address: IpAddress): boolean {
    return inAnyRange(address, this.#cluster)
  }

  #fixedInCluster(list: EgressList): EgressList {
    return list.filter((entry) => this.#isFixedInCluster(entry))
  }

  #isFixedInCluster({ range }: EgressEntry): boolean {
    return range !== null && this.#cluster.some((block) => isWithin(range, block))
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

function parseInstallationList(entries: readonly string[]): EgressList {
  for (const entry of entries) {
    const problem = egressEntryProblem(entry)
    if (problem !== null) throw new StartupError(problem)
  }
  return parseEgressList(entries)
}
