import type { KnownQueue } from './chain-reader.ts'
import { shardOfQueue, type Engine } from './engine.ts'
import { nameField, splitNameField } from './keys.ts'

const NAMES_PAGE = 1000

/** A team's queues by name, ascending; or the one named, if it exists. */
export async function teamQueues(engine: Engine, team: string, only: string | null): Promise<KnownQueue[]> {
  if (only !== null) {
    const keys = shardOfQueue(engine, team, only)
    const localId = await engine.runner.read((redis) => redis.hget(keys.names, nameField(team, only)))
    return localId === null ? [] : [{ keys, localId, team, name: only }]
  }
  const queues: KnownQueue[] = []
  for (const keys of engine.shards) {
    let cursor = '0'
    do {
      const [next, flat] = await engine.runner.read((redis) =>
        redis.hscan(keys.names, cursor, 'MATCH', `${team}/*`, 'COUNT', NAMES_PAGE),
      )
      cursor = next
      for (let i = 0; i < flat.length; i += 2) {
        const { queue } = splitNameField(flat[i] as string)
        queues.push({ keys, localId: flat[i + 1] as string, team, name: queue })
      }
    } while (cursor !== '0')
  }
  return withoutRepeats(queues.sort((a, b) => compare(a.name, b.name)))
}

/** A scan may give an entry twice. */
function withoutRepeats(sorted: readonly KnownQueue[]): KnownQueue[] {
  return sorted.filter((queue, i) => i === 0 || queue.name !== sorted[i - 1]?.name)
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
