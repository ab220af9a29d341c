import { CONNREFUSED, NODATA, NOTFOUND, type RecordWithTtl } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import { open, readFile } from 'node:fs/promises'
import { devNull } from 'node:os'
import { DNS_TIMEOUT_MS } from '../../domain/limits.ts'
import { LruCache } from '../../domain/lru-cache.ts'
import type { Clock } from '../../ports/runtime.ts'
import {
  DNS_CACHE_MS_MAX,
  DNS_CACHE_MS_MIN,
  DNS_CACHE_NAMES_MAX,
  DNS_FAMILY_GRACE_MS,
  DNS_TRIES,
  DNS_TRY_MS,
  SYSTEM_NAMES_MS,
} from '../bounds.ts'
import { codeOf, isOutOfDescriptors } from '../system-error.ts'
import { candidatesOf, parseHosts, parseSearchRules, type SearchRules } from './system-names.ts'

/**
 * All addresses of a host name, IPv4 and IPv6, within `DNS_TIMEOUT_MS`. Rejects with a `NameResolutionError`, or with
 * the system's error if this machine is out of file descriptors.
 */
export type ResolveName = (hostname: string) => Promise<readonly string[]>

/** The message is for people. */
export class NameResolutionError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'NameResolutionError'
  }
}

/** One answer for names that do not exist and for names whose addresses the egress policy closes. */
export function noUsableAddress(): NameResolutionError {
  return new NameResolutionError(
    'The host name does not exist, or has no address that the egress policy allows.',
  )
}

export interface NameResolverOptions {
  readonly clock: Clock
  readonly hostsPath?: string
  readonly resolvConfPath?: string
  /** `address:port`; the machine's by default. */
  readonly servers?: readonly string[]
}

interface Answer {
  readonly addresses: readonly string[]
  readonly ttlMs: number
}

interface SystemNames {
  readonly hosts: ReadonlyMap<string, readonly string[]>
  readonly search: SearchRules
  /** Replaced whenever the files are read, so that it has the current name servers. */
  readonly resolver: Resolver
}

const LOCALHOST_ADDRESSES = ['127.0.0.1', '::1']

/**
 * Resolves names without the thread pool: `dns.lookup` runs in libuv's few threads, where one silent zone would stall
 * every other queue. c-ares waits on sockets instead. It knows neither `/etc/hosts` nor search domains (`orders.shop` in
 * a pod), so both are done here as the C library does them. Other sources of nsswitch.conf, such as mDNS, are not
 * supported.
 */
export function createNameResolver(options: NameResolverOptions): ResolveName {
  const { clock } = options
  const systemNames = createSystemNames(options)
  const fresh = new LruCache<string, { readonly addresses: readonly string[]; readonly untilMs: number }>(
    DNS_CACHE_NAMES_MAX,
  )
  const inFlight = new Map<string, Promise<readonly string[]>>()

  async function ask(name: string): Promise<readonly string[]> {
    const answer = await withDeadline(clock, DNS_TIMEOUT_MS, lookUp(clock, await systemNames(), name))
    fresh.set(name, { addresses: answer.addresses, untilMs: clock.monotonicMs() + answer.ttlMs })
    return answer.addresses
  }

  return (hostname) => {
    const name = hostname.toLowerCase()
    const known = fresh.get(name)
    if (known !== undefined && clock.monotonicMs() < known.untilMs) return Promise.resolve(known.addresses)
    let answer = inFlight.get(name)
    if (answer === undefined) {
      answer = ask(name).finally(() => inFlight.delete(name))
      inFlight.set(name, answer)
    }
    return answer
  }
}

async function lookUp(clock: Clock, { hosts, search, resolver }: SystemNames, name: string): Promise<Answer> {
  const bare = name.replace(/\.$/, '')
  // RFC 6761 §6.3: name servers are never asked.
  if (bare === 'localhost' || bare.endsWith('.localhost')) return answerOf(LOCALHOST_ADDRESSES)
  const listed = hosts.get(bare)
  if (listed !== undefined) return answerOf(listed)

  let failure: unknown = null
  for (const candidate of candidatesOf(name, search)) {
    try {
      return await askBothFamilies(clock, resolver, candidate)
    } catch (error) {
      // Neither ends the search, and the failure of a name server says more than a name that does not exist.
      if (!isAbsence(error)) failure ??= error
    }
  }
  // c-ares reports the same when it could not open a socket.
  if (codeOf(failure) === CONNREFUSED) await proveDescriptor()
  throw failure === null
    ? noUsableAddress()
    : new NameResolutionError(describeFailure(failure), { cause: failure })
}

async function askBothFamilies(clock: Clock, resolver: Resolver, name: string): Promise<Answer> {
  const ipv4 = resolver.resolve4(name, { ttl: true }).then(orAbsence)
  const ipv6 = resolver.resolve6(name, { ttl: true }).then(orAbsence)
  // The first family that answers, or both errors.
  const first = await Promise.any([ipv4, ipv6]).catch((error: unknown) => {
    throw moreTelling(error)
  })
  // A server that never answers for one family must not fail the call; that family is not used.
  const grace = pause(clock, DNS_FAMILY_GRACE_MS)
  const settled = await Promise.race([Promise.allSettled([ipv4, ipv6]), grace.promise])
  grace.cancel()
  const records =
    settled === null
      ? first
      : settled.flatMap((family) => (family.status === 'fulfilled' ? family.value : []))
  const ttlMs = Math.min(...records.map((record) => record.ttl)) * 1000
  return { addresses: records.map((record) => record.address), ttlMs: clampTtl(ttlMs) }
}

/** An alias without a target gives no address: c-ares counts that as success, the C library does not. */
function orAbsence(records: readonly RecordWithTtl[]): readonly RecordWithTtl[] {
  if (records.length > 0) return records
  throw Object.assign(new Error('The answer holds no address.'), { code: NODATA })
}

function createSystemNames(options: NameResolverOptions): () => Promise<SystemNames> {
  const { clock, hostsPath = '/etc/hosts', resolvConfPath = '/etc/resolv.conf', servers } = options
  let known: Promise<SystemNames> | null = null
  let readAtMs = 0
  const read = async (): Promise<SystemNames> => {
    const [hosts, resolvConf] = await Promise.all([textOf(hostsPath), textOf(resolvConfPath)])
    const resolver = new Resolver({ timeout: DNS_TRY_MS, tries: DNS_TRIES })
    if (servers !== undefined) resolver.setServers(servers)
    return { hosts: parseHosts(hosts), search: parseSearchRules(resolvConf), resolver }
  }
  return () => {
    const nowMs = clock.monotonicMs()
    if (known === null || nowMs - readAtMs >= SYSTEM_NAMES_MS) {
      readAtMs = nowMs
      known = read()
      known.catch(() => {
        known = null
      })
    }
    return known
  }
}

/** A missing or unreadable file counts as empty, as in the C library. */
async function textOf(path: string): Promise<string> {
  return await readFile(path, 'utf8').catch((error: unknown) => {
    if (isOutOfDescriptors(error)) throw error
    return ''
  })
}

/** Rejects with the system's error if this machine is out of file descriptors. */
async function proveDescriptor(): Promise<void> {
  await (await open(devNull)).close()
}

function answerOf(addresses: readonly string[]): Answer {
  return { addresses, ttlMs: DNS_CACHE_MS_MAX }
}

function clampTtl(ttlMs: number): number {
  return Math.max(DNS_CACHE_MS_MIN, Math.min(ttlMs, DNS_CACHE_MS_MAX))
}

function isAbsence(error: unknown): boolean {
  const code = codeOf(error)
  return code === NOTFOUND || code === NODATA
}

/** Prefers, among the errors of both families, one that is not "does not exist", because it may be temporary. */
function moreTelling(error: unknown): unknown {
  const errors: readonly unknown[] = error instanceof AggregateError ? error.errors : [error]
  return errors.find((one) => !isAbsence(one)) ?? errors[0]
}

function describeFailure(error: unknown): string {
  const code = codeOf(error)
  if (code === 'ETIMEOUT') return 'The name servers did not respond in time.'
  if (code === 'EBADNAME') return 'The host name is not a valid DNS name.'
  return `The name servers could not resolve the host name (${code || 'unknown error'}).`
}

async function withDeadline<T>(clock: Clock, ms: number, work: Promise<T>): Promise<T> {
  const deadline = pause(clock, ms)
  try {
    const result = await Promise.race([work.then((value) => ({ value })), deadline.promise])
    if (result === null)
      throw new NameResolutionError(`The name servers did not respond within ${ms / 1000} s.`)
    return result.value
  } finally {
    deadline.cancel()
  }
}

function pause(clock: Clock, ms: number): { readonly promise: Promise<null>; cancel(): void } {
  const { promise, resolve } = Promise.withResolvers<null>()
  return { promise, cancel: clock.after(ms, () => resolve(null)) }
}
