/** Where the child listens: a unix socket, or loopback with a password when the socket's path is too long. */
export type RedisPlace =
  | { readonly kind: 'socket'; readonly path: string }
  | { readonly kind: 'port'; readonly port: number; readonly password: string }

/** For clients: a path, or `redis://:password@127.0.0.1:port`. */
export function urlOf(place: RedisPlace): string {
  return place.kind === 'socket' ? place.path : `redis://:${place.password}@127.0.0.1:${place.port}`
}

/** For messages, and as process lists show it: without the password. */
export function nameOf(place: RedisPlace): string {
  return place.kind === 'socket' ? place.path : `127.0.0.1:${place.port}`
}

/**
 * The configuration of standalone's own Redis. There are no snapshots, since the append-only file holds everything. A
 * torn end of that file, as after a power cut, is truncated and not refused.
 * @param folder absolute; holds the data, the log and the pid file
 */
export function renderRedisConfig(folder: string, place: RedisPlace, maxmemoryBytes: number): string {
  const listen =
    place.kind === 'socket'
      ? [
          ['port', '0'],
          ['unixsocket', quote(place.path)],
          ['unixsocketperm', '700'],
        ]
      : [
          ['port', String(place.port)],
          ['bind', '127.0.0.1'],
          ['requirepass', place.password],
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
    ['appendfsync', 'everysec'],
    ['aof-load-truncated', 'yes'],
    ['save', '""'],
    ['maxmemory', String(maxmemoryBytes)],
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
