import type { CheckResult, HealthFinding } from '../../../ports/health.ts'
import type { RedisConnection } from '../../base/client/connection.ts'
import { asStoreFault } from '../../base/client/faults.ts'
import { dataVersionProblem, RESTORING } from '../../base/installation/installation.ts'
import { META } from '../../base/layout/fields.ts'
import { createShardKeys, META_KEY } from '../../base/layout/keys.ts'
import { SHARD_TAGS } from '../../base/layout/shard-tags.ts'

/** The installation found in Redis; null where other checks could not read it. */
export interface FoundInstallation {
  readonly shards: number
  readonly installation: string
  /** Whether it goes by a test clock. */
  readonly isForTests: boolean
}

/** Looks what the installation says of itself, and whether all of its shards are there. @param shards of the settings */
export async function checkInstallation(
  connection: RedisConnection,
  shards: number,
): Promise<CheckResult & { readonly found: FoundInstallation | null }> {
  try {
    return await look(connection, shards)
  } catch (error) {
    throw asStoreFault(error)
  }
}

async function look(
  connection: RedisConnection,
  shards: number,
): Promise<CheckResult & { readonly found: FoundInstallation | null }> {
  const meta = await connection.hgetall(META_KEY)
  const { version, installation } = meta
  const stored = Number(meta['shards'])
  const failed = (message: string, advice: string): HealthFinding => ({
    severity: 'failed',
    subject: META_KEY,
    message,
    advice,
  })
  if (version === undefined || installation === undefined || !(stored >= 1 && stored <= SHARD_TAGS.length)) {
    const finding = failed(
      'Redis holds no installation of Punctual.',
      'Check PUNCTUAL_REDIS_URL. If it is right, no role has been started on it, or Redis has lost its data.',
    )
    return { summary: 'none', findings: [finding], found: null }
  }
  const problem = dataVersionProblem(version)
  if (problem !== null) {
    const advice =
      version === RESTORING
        ? 'Nothing starts on it until the restore is over: see "Restore a backup" in docs/runbooks.md.'
        : 'To look into this data, run the doctor of the version that wrote it.'
    const finding = failed(problem, advice)
    return { summary: installation, findings: [finding], found: null }
  }
  const findings: HealthFinding[] = []
  if (stored !== shards) {
    findings.push(
      failed(
        `It has ${stored} shards, and these settings say ${shards}: a role that starts with them ends at once.`,
        `Set PUNCTUAL_SHARDS=${stored}.`,
      ),
    )
  }
  for (let shard = 0; shard < stored; shard += 1) {
    const { created } = createShardKeys(shard)
    if ((await connection.get(created)) !== null) continue
    findings.push({
      severity: 'failed',
      subject: created,
      message: `Shard ${shard} is not marked as created: its part of Redis was emptied, or never started.`,
      advice: 'If a node of the Cluster has lost its data, restore it from a backup or a replica.',
    })
  }
  const isForTests = meta[META.testClockMs] !== undefined
  const found = { shards: stored, installation, isForTests }
  return { summary: `${installation}, ${stored} shards${isForTests ? ', for tests' : ''}`, findings, found }
}
