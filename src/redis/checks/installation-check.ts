import type { CheckResult, HealthFinding } from '../../ports/health.ts'
import type { RedisConnection } from '../client/connection.ts'
import { asStoreFault } from '../client/faults.ts'
import { DATA_VERSION } from '../installation/installation.ts'
import { createShardKeys, META_KEY } from '../layout/keys.ts'
import { SHARD_TAGS } from '../layout/shard-tags.ts'

/** What Redis holds; null where other checks could not read it. */
export interface FoundInstallation {
  readonly shards: number
  readonly installation: string
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
    ...{ severity: 'failed', subject: META_KEY, message, advice },
  })
  if (version === undefined || installation === undefined || !(stored >= 1 && stored <= SHARD_TAGS.length)) {
    const finding = failed(
      'Redis holds no installation of Punctual.',
      'Check PUNCTUAL_REDIS_URL. If it is right, no role has been started on it, or Redis has lost its data.',
    )
    return { summary: 'none', findings: [finding], found: null }
  }
  if (version !== DATA_VERSION) {
    const finding = failed(
      `Redis holds data of version ${version}; this program knows version ${DATA_VERSION}.`,
      'Run the doctor of the version that the roles have.',
    )
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
  return { summary: `${installation}, ${stored} shards`, findings, found: { shards: stored, installation } }
}
