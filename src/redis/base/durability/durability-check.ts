import { Cluster, ReplyError } from 'ioredis'
import type { Durability } from '../../../domain/jobs/durability.ts'
import { StartupError, StoreUnreachableError } from '../../../domain/errors.ts'
import type { Logger } from '../../../ports/runtime.ts'
import { primariesOf, type RedisConnection } from '../client/connection.ts'
import { fieldsOf } from '../installation/server-look.ts'
import { onlineReplicas } from './replicas.ts'

/** What a look at the servers says of a durability. */
export interface DurabilityLook {
  /** Why it does not hold, and what to do. */
  readonly problems: readonly string[]
  /** What the servers do not show. */
  readonly unknown: readonly string[]
  /** Waiting alone may help. */
  readonly isPassing: boolean
}

type Node = ReturnType<typeof primariesOf>[number]

const HOLDS: DurabilityLook = { problems: [], unknown: [], isPassing: false }
const FSYNC_UNKNOWN =
  'Redis does not show its appendfsync (its user may not run CONFIG GET), so whether it keeps every write on disk is not checked'

/** Looks whether the servers keep what the durability promises. */
export function lookAtDurability(
  connection: RedisConnection,
  durability: Durability,
): Promise<DurabilityLook> {
  if (durability === 'fsync') return lookAtDisks(primariesOf(connection))
  if (durability === 'replicated') return lookAtReplicas(connection)
  return Promise.resolve(HOLDS)
}

/**
 * Refuses servers that cannot keep what the durability promises.
 *
 * @throws StartupError when they are set up otherwise
 * @throws StoreUnreachableError when there is no replica, which may come
 */
export async function checkDurability(
  connection: RedisConnection,
  durability: Durability,
  logger: Pick<Logger, 'warn'>,
): Promise<void> {
  const { problems, unknown, isPassing } = await lookAtDurability(connection, durability)
  for (const sentence of unknown) logger.warn(sentence)
  if (problems.length === 0) return
  const message = problems.join(' ')
  throw isPassing ? new StoreUnreachableError(message) : new StartupError(message)
}

async function lookAtDisks(nodes: readonly Node[]): Promise<DurabilityLook> {
  const problems = new Set<string>()
  const unknown = new Set<string>()
  for (const node of nodes) {
    const info = fieldsOf(await node.info('persistence'))
    if (info.get('aof_enabled') === '0') problems.add(mustSet('appendonly', 'no', 'yes'))
    const settings = await readSettings(node)
    const fsync = settings.get('appendfsync')
    if (fsync === undefined) unknown.add(FSYNC_UNKNOWN)
    else if (fsync !== 'always') problems.add(mustSet('appendfsync', fsync, 'always'))
    const onRewrite = settings.get('no-appendfsync-on-rewrite') ?? 'no'
    if (onRewrite !== 'no') problems.add(mustSet('no-appendfsync-on-rewrite', onRewrite, 'no'))
  }
  return { problems: [...problems], unknown: [...unknown], isPassing: false }
}

function mustSet(name: string, value: string, needed: string): string {
  return (
    `Redis may lose what it has accepted when its machine stops (${name} is ${value}), and PUNCTUAL_REDIS_DURABILITY is fsync: ` +
    `run "redis-cli CONFIG SET ${name} ${needed}" on the primary and its replicas and write it into redis.conf, or set relaxed.`
  )
}

/** Asks for these settings alone, as others hold passwords. Empty when they are not shown. */
async function readSettings(node: Node): Promise<ReadonlyMap<string, string>> {
  try {
    const flat = (await node.config('GET', 'appendfsync', 'no-appendfsync-on-rewrite')) as readonly string[]
    return new Map(flat.flatMap((word, i) => (i % 2 === 0 ? [[word, flat[i + 1] ?? ''] as const] : [])))
  } catch (error) {
    if (error instanceof ReplyError) return new Map()
    throw error
  }
}

async function lookAtReplicas(connection: RedisConnection): Promise<DurabilityLook> {
  if (connection instanceof Cluster) return { ...HOLDS, problems: [NO_CLUSTER] }
  const [node] = primariesOf(connection)
  const info = fieldsOf((await node?.info('replication')) ?? '')
  return onlineReplicas(info) > 0 ? HOLDS : { problems: [NO_REPLICA], unknown: [], isPassing: true }
}

const NO_CLUSTER =
  'PUNCTUAL_REDIS_DURABILITY is replicated, which is not offered on a Redis Cluster: set fsync or relaxed, or use one primary with replicas.'
const NO_REPLICA =
  'The primary has no replica that is in step, and PUNCTUAL_REDIS_DURABILITY is replicated: add a replica ("replicaof" in its redis.conf), or set fsync or relaxed.'
