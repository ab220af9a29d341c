import { isIP } from 'node:net'
import { reasonOf } from '../../domain/errors.ts'
import type { ResolveName } from '../../outbound/dns/name-resolver.ts'
import type { AddressSource } from '../../outbound/egress/own-addresses.ts'
import type { Logger } from '../../ports/runtime.ts'
import { isLoopbackHost } from './loopback.ts'

/** Address of our Redis, as the settings state it. */
interface OwnRedis {
  readonly redisUrl: string
  /** If there are any, the host of the URL is the name of the primary and none of the network. */
  readonly redisSentinels?: readonly { readonly host: string }[] | null | undefined
}

/**
 * The egress entries that keep jobs away from the Redis that holds them, by its names. Loopback needs none: it is denied
 * unless the installation allows it for its own targets.
 */
export async function denyOwnRedis(own: OwnRedis, resolve: ResolveName): Promise<string[]> {
  return (await Promise.all(hostsOf(own).map((host) => denyHost(host, resolve)))).flat()
}

async function denyHost(host: string, resolve: ResolveName): Promise<string[]> {
  if (isIP(host) !== 0 || isLoopbackHost(host)) return []
  const found = await resolve(host).catch(() => [])
  const isHere = found.length > 0 && found.every((address) => isLoopbackHost(address))
  return isHere ? [] : [host]
}

interface RedisAddressOptions {
  readonly own: OwnRedis
  /** Names or addresses of the servers that are connected. */
  servers(): readonly string[]
  readonly resolve: ResolveName
  readonly logger: Pick<Logger, 'warn'>
}

/**
 * The addresses of our Redis: of the names in the settings and of the servers that are connected, since a Cluster and a
 * failover lead to others. A name that cannot be resolved keeps the addresses it had, and no other name waits for it:
 * that of a server that is down is missing from DNS just when another takes its place. Owns what each name had last.
 */
export class RedisAddresses implements AddressSource {
  readonly name = 'Redis'
  readonly #options: RedisAddressOptions
  readonly #found = new Map<string, readonly string[]>()
  readonly #failing = new Set<string>()

  constructor(options: RedisAddressOptions) {
    this.#options = options
  }

  async read(): Promise<readonly string[]> {
    const { own, servers } = this.#options
    const hosts = new Set([...hostsOf(own), ...servers()])
    for (const host of [...this.#found.keys(), ...this.#failing]) {
      if (hosts.has(host)) continue
      this.#found.delete(host)
      this.#failing.delete(host)
    }
    await Promise.all([...hosts].map((host) => this.#find(host)))
    return [...this.#found.values()].flat()
  }

  async #find(host: string): Promise<void> {
    try {
      this.#found.set(host, isIP(host) === 0 ? await this.#options.resolve(host) : [host])
      this.#failing.delete(host)
    } catch (error) {
      if (!this.#failing.has(host)) {
        this.#options.logger.warn(
          'The name of this installation’s Redis cannot be resolved; jobs still may not call its last addresses',
          {
            host,
            reason: reasonOf(error),
          },
        )
      }
      this.#failing.add(host)
    }
  }
}

/** Hosts of our Redis; none for a unix socket. */
function hostsOf({ redisUrl, redisSentinels = null }: OwnRedis): string[] {
  if (redisSentinels !== null) return redisSentinels.map(({ host }) => host)
  return redisUrl.startsWith('/') ? [] : [new URL(redisUrl).hostname.replace(/^\[|\]$/g, '')]
}
