import type { ErasedPage } from '../../../ports/access/namespaces.ts'
import type { CompileEnd, SettingsCompiler } from '../../../ports/settings.ts'
import { forgetAlerts } from '../../ledger/alerts/forget-alerts.ts'
import { homeOfBulks, outcomeMember, partMember, wholeMember } from '../../jobs/bulk/records/bulk-steps.ts'
import type { Engine } from '../../base/engine/engine.ts'
import { step } from '../../base/engine/step.ts'
import { teamNames } from '../../base/names/team-names.ts'

export const FORGET_TEAM = step('forget_team', import.meta.url, {
  keys: [
    'leaderEpoch',
    'issues',
    'issuesDue',
    'bulks',
    'bulksDue',
    'channelStates',
    'notices',
    'deliveryLog',
    'settledTallies',
  ],
  args: ['epoch', 'team'],
  rows: {
    teamBulks: {
      keys: ['part', 'failures', 'bulkJobs', 'bulkWaiting'],
      args: ['id', 'member', 'whole', 'outcome'],
    },
  },
})

/** Crons or queues that one call removes. */
const PAGE = 50

interface Leader extends Pick<SettingsCompiler, 'removeCron' | 'removeQueue'> {
  /** null = there is no leader. */
  readonly epoch: number | null
}

/** Everything may be done again after a crash: what is gone already is not found. */
export async function eraseTeam(
  engine: Engine,
  team: string,
  { removeCron, removeQueue, epoch }: Leader,
): Promise<CompileEnd<ErasedPage>> {
  // Crons first: their runs make queues.
  for (const [kind, remove] of [['crons', removeCron] as const, ['queues', removeQueue] as const]) {
    const page = await teamNames(engine, { kind, team, begin: '-', limit: PAGE })
    for (const { name } of page) {
      const { status } = await remove(team, name)
      if (status === 'superseded') return { status }
    }
    if (page.length > 0) return { status: 'more', removed: page.length }
  }
  for (const keys of engine.shards) {
    if (await forgetAlerts(engine, keys, { team, isAll: true })) return { status: 'more', removed: 0 }
  }
  // Channels count what they were told of the alerts, so they follow.
  const status = await forgetTeam(engine, team, epoch)
  return status === 'superseded' ? { status } : { status, removed: 0 }
}

async function forgetTeam(
  engine: Engine,
  team: string,
  epoch: number | null,
): Promise<'erased' | 'superseded'> {
  const home = homeOfBulks(engine, team)
  const ids = await engine.runner.read((redis) => redis.hkeys(home.bulks(team)))
  const refs = ids.map((id) => ({ team, id: Number(id) }))
  // The home goes last: it has the ids, by which a crash in between is made good.
  for (const keys of engine.shards.toSorted((one, other) => Number(one === home) - Number(other === home))) {
    const answer = await engine.runner.run(
      FORGET_TEAM.with({
        keys,
        epoch: epoch ?? '',
        team,
        issues: keys.issues(team),
        bulks: keys.bulks(team),
        channelStates: keys.channelStates(team),
        deliveryLog: keys.deliveryLog(team),
        settledTallies: keys.settledTallies(`t${team}`),
        teamBulks: refs.map((ref) => ({
          id: ref.id,
          member: partMember(ref),
          whole: wholeMember(ref),
          outcome: outcomeMember(ref),
          part: keys.bulkPart(partMember(ref)),
          failures: keys.bulkFailures(partMember(ref)),
          bulkJobs: keys.bulkJobs(partMember(ref)),
          bulkWaiting: keys.bulkWaiting(partMember(ref)),
        })),
      }),
    )
    if (answer === 'superseded') return answer
  }
  return 'erased'
}
