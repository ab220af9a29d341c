import type { Status } from '../../../../../clients/typescript/src/client.ts'

/** What needs somebody, one sentence each. */
export function mattersOf({ executors_alive: areAlive, installation }: Status): readonly string[] {
  const found: string[] = []
  if (areAlive === false) found.push('No executor is alive in at least one shard, so its jobs wait.')
  const servers = installation?.redis ?? []
  for (const { name, answers, risks } of servers) {
    if (!answers) found.push(`The Redis at ${name} does not answer.`)
    found.push(...risks.map((risk) => `${name}: ${risk}`))
  }
  return [...new Set(found)]
}
