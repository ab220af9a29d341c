import type { InspectedShard, ShardFacts } from './inspect-facts.ts'
import { readSortedSet } from '../../base/engine/paged-reads.ts'
import { splitNameField } from '../../base/layout/keys.ts'

/** Checks that each team's index holds exactly the names that exist: lists are read from it. */
export async function inspectTeamIndexes(shard: InspectedShard, facts: ShardFacts): Promise<void> {
  const { keys, list } = shard
  await inspectIndexes(shard, facts.names.keys(), {
    teams: list.queueTeams,
    indexOf: (team) => keys.teamQueues(team),
  })
  await inspectIndexes(shard, facts.crons.values(), {
    teams: list.cronTeams,
    indexOf: (team) => keys.teamCrons(team),
  })
}

async function inspectIndexes(
  { engine, find }: InspectedShard,
  fields: Iterable<string>,
  { teams, indexOf }: { teams: readonly string[]; indexOf(team: string): string },
): Promise<void> {
  const byTeam = Map.groupBy([...fields].map(splitNameField), ({ team }) => team)
  for (const team of new Set([...teams, ...byTeam.keys()])) {
    const key = indexOf(team)
    const index = await readSortedSet(engine, key)
    const names = new Set(byTeam.get(team)?.map(({ queue }) => queue))
    for (const name of new Set(index.keys()).symmetricDifference(names)) {
      find(key, names.has(name) ? `lacks ${name}` : `names ${name}, which is not there`)
    }
    for (const [name, score] of index) if (score !== 0) find(key, `has ${name} at ${score}, out of order`)
  }
}
