import {
  judgeQuotas,
  judgeStorage,
  quotaFacts,
  storageFacts,
  warningChange,
  type LimitFinding,
  type QuotaFinding,
  type StandingWarning,
  type Storage,
} from '../../../domain/alerts/limit-rules.ts'
import type { LimitReason } from '../../../domain/alerts/alert.ts'
import { effectiveQuotas, monthOf, type TeamQuotas } from '../../../domain/quotas.ts'
import type { TeamUsage } from '../../../ports/quotas.ts'
import type { TeamSettingsSource } from '../../../ports/settings.ts'
import type { SetAside } from '../../../domain/set-aside.ts'
import type { WindowSource } from '../../../ports/windows.ts'
import type { Engine } from '../../base/engine/engine.ts'
import type { ShardKeys } from '../../base/layout/keys.ts'
import { createTeamStats } from '../../ledger/quotas/team-usage.ts'
import { readShardUsage } from '../../ledger/quotas/usage-reader.ts'
import { decodeStanding, encodeStanding, warningField } from './standing-warnings.ts'
import { muteOf, warn, type WarningChange } from './warn.ts'

export interface LimitScanOptions {
  readonly settings: TeamSettingsSource
  /** The quotas of the installation. */
  readonly quotas: TeamQuotas
  readonly windows: WindowSource
}

/** Reads teams at home in a shard, and raises and clears their warnings. */
export async function scanTeams(
  engine: Engine,
  keys: ShardKeys,
  {
    teams,
    setAside,
    ...options
  }: LimitScanOptions & { readonly teams: readonly string[]; readonly setAside: SetAside },
): Promise<void> {
  if (teams.length === 0) return
  const [usages, storage, fields] = await Promise.all([
    createTeamStats(engine).read(teams),
    fullestStorage(engine),
    engine.runner.read((redis) =>
      redis.hmget(
        keys.limitWarnings,
        ...teams.flatMap((team) => TEAM_LIMITS.map((reason) => fieldOf(reason, team))),
      ),
    ),
  ])
  const nowMs = engine.runner.redisNowMs(keys.shard)
  const changesOf = (team: string, i: number): WarningChange[] => {
    const [storageSeen, quotaSeen] = [fields[2 * i] ?? '', fields[2 * i + 1] ?? '']
    const usage = usages[i] as TeamUsage
    const suppressedBy = muteOf(options.windows, { team, queue: null, nowMs })
    const around = { team, suppressedBy }
    const quotas = effectiveQuotas(options.settings.of(team).quotas, options.quotas)
    const findings = judgeQuotas(usage, quotas)
    // A team that has nothing here any more is not warned.
    const full: LimitFinding = holdsAnything(usage) ? judgeStorage(storage) : { kind: 'clear' }
    return [
      ...changeOf('storage_nearly_full', storageSeen, {
        ...around,
        findings: [{ name: '', finding: full }],
        factsOf: () => storageFacts(storage),
      }),
      ...changeOf<QuotaFinding>('quota_nearly_used', quotaSeen, { ...around, findings, factsOf: quotaFacts }),
    ]
  }
  const changes = teams.flatMap((team, i) => setAside.try({ team }, () => changesOf(team, i), []))
  await warn(engine, keys, { changes, setAside })
}

const TEAM_LIMITS = ['storage_nearly_full', 'quota_nearly_used'] as const satisfies readonly LimitReason[]

function fieldOf(reason: LimitReason, team: string): string {
  return warningField(reason, { kind: 'team', team })
}

/** Finds the fullest of the servers under the shards, as one that is full stops intake for its part of the queues. */
async function fullestStorage(engine: Engine): Promise<Storage> {
  const readings = await Promise.all(
    engine.shards.map((keys) =>
      readShardUsage(engine, keys, [], monthOf(engine.runner.redisNowMs(keys.shard)).month),
    ),
  )
  const partOf = ({ usedBytes, maxBytes }: Storage) => (maxBytes === 0 ? 0 : usedBytes / maxBytes)
  return readings.map(({ memory }) => memory).reduce((a, b) => (partOf(b) > partOf(a) ? b : a))
}

function holdsAnything({ queues, crons, pendingJobs, storedBytes }: TeamUsage): boolean {
  return queues + crons + pendingJobs + storedBytes > 0
}

/** Makes one change of the findings of one reason, because they share a field and an alert. */
function changeOf<Finding extends { readonly name: string; readonly finding: LimitFinding }>(
  reason: LimitReason,
  seen: string,
  {
    team,
    suppressedBy,
    findings,
    factsOf,
  }: {
    readonly team: string
    readonly suppressedBy: string | null
    readonly findings: readonly Finding[]
    factsOf(raised: readonly Finding[]): ReadonlyArray<string | number>
  },
): WarningChange[] {
  const isMuted = suppressedBy !== null
  const before = decodeStanding(seen)
  const next = new Map<string, StandingWarning>()
  const raised: Finding[] = []
  for (const one of findings) {
    const standing = before.get(one.name) ?? null
    const change = warningChange(standing, one.finding, isMuted)
    if (change === 'raise' && one.finding.kind === 'over') {
      raised.push(one)
      next.set(one.name, { level: one.finding.level, isMuted })
    } else if (change === null && standing !== null) next.set(one.name, standing)
  }
  const text = encodeStanding(next)
  if (text === seen) return []
  const facts = raised.length === 0 ? null : factsOf(raised)
  return [
    {
      team,
      name: team,
      reason,
      seen,
      facts,
      suppressedBy,
      next: text,
      resource: { kind: 'team', team },
    },
  ]
}
