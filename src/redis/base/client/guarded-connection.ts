import { Cluster } from 'ioredis'
import type { Clock, Logger } from '../../../ports/runtime.ts'
import { Circuit } from './circuit.ts'
import type { RedisConnection } from './connection.ts'
import { absentKeyBeside } from '../layout/keys.ts'

/**
 * Writes nothing, but is refused wherever a step would be: by a replica, by a server that is loading or cannot persist
 * its data, by a Cluster that does not serve the slot. A full server runs it.
 */
const PROBE = '#!lua flags=allow-oom\nreturn 1'
/** Stands for the key of commands that have none; they go to a single server. */
const ANY_KEY = 'punctual:look'

type Command = (...words: unknown[]) => Promise<unknown>

/** Commands without a guard: they wait for no answer, or handle a lost connection themselves. */
const PASSED_ON = ['disconnect', 'on', 'subscribe', 'unsubscribe'] as const

/** Position of the first key among a command's arguments; -1 = it has none. */
const FIRST_KEY: Readonly<Record<Exclude<keyof RedisConnection, (typeof PASSED_ON)[number]>, number>> = {
  config: -1,
  info: -1,
  ping: -1,
  publish: -1,
  scan: -1,
  wait: -1,
  eval: 2,
  evalsha: 2,
  del: 0,
  get: 0,
  hdel: 0,
  hget: 0,
  hgetall: 0,
  hkeys: 0,
  hlen: 0,
  hmget: 0,
  hrandfield: 0,
  hscan: 0,
  hset: 0,
  hsetnx: 0,
  setnx: 0,
  zcount: 0,
  hstrlen: 0,
  lindex: 0,
  llen: 0,
  lrange: 0,
  scard: 0,
  srandmember: 0,
  sscan: 0,
  ttl: 0,
  xrevrange: 0,
  zcard: 0,
  zmscore: 0,
  zrange: 0,
  zrangebyscore: 0,
  zrevrange: 0,
  zscan: 0,
  zscore: 0,
}

/** A connection for callers that must answer soon: while Redis is known to be away, commands fail at once. */
export interface GuardedConnection {
  readonly connection: RedisConnection
  /** Ends the probes. */
  stop(): void
}

/** A single server has one circuit; a Cluster has one for each shard, so that a lost node blocks only its own shards. */
export function guardConnection(
  connection: RedisConnection,
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
): GuardedConnection {
  const isCluster = connection instanceof Cluster
  const circuits = new Map<string, Circuit>()
  let openNow = 0

  const noteChange = (isOpen: boolean): void => {
    openNow += isOpen ? 1 : -1
    if (isOpen && openNow === 1) logger.warn('Redis does not answer: what needs it is refused until it does')
    if (openNow === 0) logger.info('Redis answers again')
  }
  const circuitOf = (key: string): Circuit => {
    const place = isCluster ? tagOf(key) : ''
    const known = circuits.get(place)
    if (known !== undefined) return known
    // A script may not name a key that its user may only read.
    const probe = () => connection.eval(PROBE, 1, absentKeyBeside([key]))
    const made = new Circuit({ clock, probe, onChange: noteChange })
    circuits.set(place, made)
    return made
  }
  const guard = (command: Command, at: number): Command => {
    // A command without a key goes to an unknown node.
    if (at < 0 && isCluster) return command
    return (...words) => {
      const key = at < 0 ? ANY_KEY : String(words[at])
      return circuitOf(key).run(() => command(...words))
    }
  }

  const bound = (name: string): Command =>
    (connection[name as keyof RedisConnection] as Command).bind(connection)
  const commands = Object.entries(FIRST_KEY).map(([name, at]) => [name, guard(bound(name), at)] as const)
  const others = PASSED_ON.map((name) => [name, bound(name)] as const)
  connection.on('ready', () => {
    for (const circuit of circuits.values()) circuit.probeNow()
  })
  return {
    connection: Object.assign(
      Object.create(connection),
      Object.fromEntries([...commands, ...others]),
    ) as RedisConnection,
    stop: () => {
      for (const circuit of circuits.values()) circuit.stop()
    },
  }
}

/** The part of a key in braces, which decides the slot; the whole key when there is none. */
function tagOf(key: string): string {
  return /\{([^}]+)\}/.exec(key)?.[1] ?? key
}
