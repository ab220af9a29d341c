import type { Command } from 'commander'
import type { LoginCode } from '../../../clients/typescript/src/client.ts'
import { cliError, MISUSED } from '../cli-error.ts'
import { connected, type OutputFlags } from '../command-options.ts'
import type { CommandOptions, CommandRunner } from '../command-runner.ts'
import { itemView } from '../output/view.ts'

export function registerDashboardCommand(
  program: Command,
  runner: CommandRunner,
  { bearerOf }: Pick<CommandOptions, 'bearerOf'>,
): void {
  connected(program.command('dashboard'))
    .description('print a link to the dashboard that logs in once, within ten minutes')
    .action((flags: OutputFlags) => {
      // A connection by kubectl ends with the command, and no browser could use it.
      if (bearerOf !== undefined && flags.server === undefined) return runner.local(refuse)
      return runner.run(flags, async (api) =>
        runner.print(flags, await api.send('createLoginCode', {}), linkView(api.server)),
      )
    })
}

function refuse(): never {
  throw cliError('give the address at which a browser finds the API (--server)', MISUSED)
}

function linkView(server: string) {
  return itemView<LoginCode>({
    kind: 'code',
    id: ({ code }) => code,
    lines: ({ code }) => [`${server}/#code=${code}`],
  })
}
