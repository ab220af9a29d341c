import type { Team } from '../../../clients/typescript/src/client.ts'
import { columns } from '../output/text-table.ts'

/** The quotas of a team, and what it uses of each. */
export function quotaTable(quotas: Team['quotas'], usage: Team['usage']): string {
  const limits = new Map<string, number | null>(Object.entries(quotas))
  const rows = Object.entries(usage).map(([name, used]) => [
    name.replaceAll('_', ' '),
    String(used),
    String(limits.get(name) ?? '-'),
  ])
  return columns([['QUOTA', 'USED', 'LIMIT'], ...rows])
}
