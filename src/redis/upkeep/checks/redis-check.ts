import type { Durability } from '../../../domain/jobs/durability.ts'
import type { CheckResult, HealthFinding, Severity } from '../../../ports/health.ts'
import { primariesOf, type RedisConnection } from '../../base/client/connection.ts'
import { asStoreFault } from '../../base/client/faults.ts'
import { lookAtDurability } from '../../base/durability/durability-check.ts'
import { versionProblems } from '../../base/installation/installation.ts'
import { fieldsOf, risksIn, type ServerFields } from '../../base/installation/server-look.ts'

/** Share of maxmemory above which little is left before pushes are refused. */
const FULL_SHARE = 0.9

const OPEN_PORT: HealthFinding = {
  severity: 'warning',
  subject: 'network policies',
  message: 'They let every pod of the installation reach any address at the port of Redis.',
  advice: 'Name the blocks that Redis has in redis.external.cidrs of the chart.',
}

/** What an installation asks of its Redis, and says of the way there. */
interface RedisTerms {
  readonly redisDurability: Durability
  /** Whether network policies let pods reach any address at its port, as who installed it said. */
  readonly redisOpenPort: boolean
}

/** Looks whether each server keeps jobs: version, eviction, AOF and its last writes, memory, role, durability. */
export async function checkRedis(connection: RedisConnection, terms: RedisTerms): Promise<CheckResult> {
  try {
    return await look(connection, terms)
  } catch (error) {
    throw asStoreFault(error)
  }
}

async function look(
  connection: RedisConnection,
  { redisDurability: durability, redisOpenPort: isPortOpen }: RedisTerms,
): Promise<CheckResult> {
  const findings: HealthFinding[] = []
  const servers: string[] = []
  const primaries = primariesOf(connection)
  for (const node of primaries) {
    const info = fieldsOf(await node.info())
    const subject = `Redis ${info.get('run_id')?.slice(0, 8) ?? ''} on port ${info.get('tcp_port') ?? '?'}`
    findings.push(...serverProblems(info).map((problem) => ({ subject, ...problem })))
    const version = info.get('valkey_version') ?? info.get('redis_version') ?? '?'
    servers.push(`${version}, ${info.get('used_memory_human') ?? '?'} used`)
  }
  const { problems, unknown } = await lookAtDurability(connection, durability)
  for (const message of problems) {
    const advice = 'Until then, what is accepted is less safe than was asked for.'
    findings.push({ severity: 'failed', subject: `durability ${durability}`, message, advice })
  }
  if (isPortOpen) findings.push(OPEN_PORT)
  const count = primaries.length === 1 ? 'one server' : `${primaries.length} primaries`
  return {
    summary: [`${count} (${servers.join('; ')})`, ...unknown].join('; '),
    findings,
  }
}

function serverProblems(info: ServerFields): Array<Omit<HealthFinding, 'subject'>> {
  const found: Array<Omit<HealthFinding, 'subject'>> = []
  const add = (severity: Severity, message: string, advice: string): void =>
    void found.push({ severity, message, advice })
  for (const problem of versionProblems(info)) add('failed', problem, 'Upgrade it.')
  for (const { message } of risksIn(info)) {
    add('failed', message, 'Write a changed setting into redis.conf too, so that it survives a restart.')
  }
  if (info.get('role') === 'slave') {
    add('failed', 'It is a replica, which takes no writes.', 'Point PUNCTUAL_REDIS_URL at the primary.')
  }
  const [used, max] = [Number(info.get('used_memory') ?? 0), Number(info.get('maxmemory') ?? 0)]
  if (max > 0 && used > FULL_SHARE * max) {
    const share = Math.floor((100 * used) / max)
    add(
      'warning',
      `It uses ${share} % of its maxmemory; pushes are refused before it is full.`,
      'Raise maxmemory, or shorten what queues keep.',
    )
  }
  return found
}
