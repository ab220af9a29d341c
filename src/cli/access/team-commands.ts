import type { Command } from 'commander'
import type { Me, Team } from '../../../clients/typescript/src/client.ts'
import { type OutputFlags, watched } from '../command-options.ts'
import type { CommandRunner } from '../command-runner.ts'
import { quotaTable } from './quota-table.ts'
import { itemView } from '../output/view.ts'

/** Adds `team` and `whoami`. */
export function registerTeamCommands(program: Command, runner: CommandRunner): void {
  watched(program.command('team'))
    .description('show what the team uses of its quotas')
    .action((flags: OutputFlags) => runner.request(flags, (api) => api.send('readTeam', {}), TEAM))
  watched(program.command('whoami'))
    .description('show whose token this is, and what it may do')
    .action((flags: OutputFlags) => runner.request(flags, (api) => api.send('readMe', {}), ME))
}

const TEAM = itemView<Team>({
  kind: 'team',
  id: ({ team }) => team,
  lines: ({ team, quotas, usage, notifications, header_secrets: secrets, masked_headers: masked = [] }) => {
    const channels = notifications.map(({ channel, state }) => `channel ${channel}: ${state}`)
    const named = secrets.map(
      ({ name, hosts }) => `header secret ${name}: to ${hosts.join(', ') || 'no host'}`,
    )
    const hidden = masked.length === 0 ? [] : [`masked headers: ${masked.join(', ')}`]
    return [`team ${team}`, quotaTable(quotas, usage), ...channels, ...named, ...hidden]
  },
})

const ME = itemView<Me>({
  kind: 'team',
  id: ({ team }) => team,
  lines: ({ team, subject, kind, roles, queues, expires_at: end, may }) => [
    `${kind} ${subject} in team ${team}`,
    ...(roles.length === 0 ? [] : [`roles: ${roles.join(', ')}`]),
    `may: ${Object.entries(may)
      .flatMap(([permission, isGiven]) => (isGiven ? [permission] : []))
      .join(', ')}`,
    ...(queues === null ? [] : [`only in queues: ${queues.join(', ')}`]),
    ...(end === null ? [] : [`until ${end}`]),
  ],
})
