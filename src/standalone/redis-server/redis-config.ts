import type { Durability } from '../../domain/jobs/durability.ts'

/** Where the child listens: at a unix socket or, when its path is too long, on loopback with a password. */
export type RedisAddress =
  | { readonly kind: 'socket'; readonly path: string }
  | { readonly kind: 'port'; readonly port: number; readonly password: string }

/** URL for clients: a path, or `redis://:password@127.0.0.1:port`. */
export function urlOf(address: RedisAddress): string {
  return address.kind === 'socket' ? address.path : `redis://:${address.password}@127.0.0.1:${address.port}`
}

/** Name for messages, and in process lists: without the password. */
export function nameOf(address: RedisAddress): string {
  return address.kind === 'socket' ? address.path : `127.0.0.1:${address.port}`
}

/** What the settings say of the child. */
export interface RedisBounds {
  readonly maxmemoryBytes: number
  readonly durability: Durability
}

/** When the disk has what is appended. */
export function fsyncOf(durability: Durability): 'always' | 'everysec' {
  return durability === 'fsync' ? 'always' : 'everysec'
}

/**
 * The configuration of standalone's own Redis. There are no snapshots, since the append-only file holds everything. A
 * torn end of that file, as after a power cut, is truncated and not refused.
 * @param folder absolute; holds the data, the log and the pid file
 */
export function renderRedisConfig(folder: string, address: RedisAddress, bounds: RedisBounds): string {
  const listen =
    address.kind === 'socket'
      ? [
          ['port', '0'],
          ['unixsocket', quote(address.path)],
          ['unixsocketperm', '700'],
        ]
      : [
          ['port', String(address.port)],
          ['bind', '127.0.0.1'],
          ['requirepass', address.password],
        ]
  const lines = [
    ...listen,
    ['protected-mode', 'yes'],
    ['daemonize', 'no'],
    ['databases', '1'],
    ['dir', quote(folder)],
    ['logfile', quote(`${folder}/redis.log`)],
    ['pidfile', quote(`${folder}/redis.pid`)],
    ['appendonly', 'yes'],
    ['appendfsync', fsyncOf(bounds.durability)],
    ['aof-load-truncated', 'yes'],
    ['save', '""'],
    ['maxmemory', String(bounds.maxmemoryBytes)],
    ['maxmemory-policy', 'noeviction'],
  ]
  return `${lines.map((line) => line.join(' ')).join('\n')}\n`
}

/** Quotes a word for Redis's configuration. */
function quote(text: string): string {
  const escaped = text
    .replaceAll(/[\\"]/g, String.raw`\$&`)
    .replaceAll(
      /[^ -~\u0080-\u{10ffff}]/gu,
      (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`,
    )
  return `"${escaped}"`
}
