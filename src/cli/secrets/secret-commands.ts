import type { Command } from 'commander'
import { changing, listCommand, type OutputFlags, watched } from '../command-options.ts'
import type { CommandRunner } from '../command-runner.ts'
import { idArgument } from '../connection/given-ids.ts'
import { CREATED_SECRET, SECRET_LIST } from './secret-text.ts'

/** Adds `secrets` and its subcommands; alone it lists. */
export function registerSecretCommands(program: Command, runner: CommandRunner): void {
  const secrets = program.command('secrets').description('list, create and delete signing secrets')
  watched(listCommand(secrets))
    .description('list signing secrets, newest first, without their values')
    .action((flags: OutputFlags) =>
      runner.request(flags, (api) => api.send('listSigningSecrets', {}), SECRET_LIST),
    )
  changing(secrets.command('create'))
    .description('create a signing secret, which is shown once; the former one signs beside it')
    .action((flags: OutputFlags) =>
      runner.request(flags, (api) => api.send('createSigningSecret', {}), CREATED_SECRET),
    )
  changing(secrets.command('delete').argument(...idArgument('signing-secret')))
    .description('delete a signing secret; without any other, calls go out unsigned')
    .action((id: string, flags: OutputFlags) =>
      runner.act(flags, (api) => api.send('deleteSigningSecret', { signing_secret_id: id }), {
        name: `signing-secret/${id}`,
        said: `signing secret ${id} deleted`,
      }),
    )
}
