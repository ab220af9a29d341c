import type { Command } from 'commander'
import { type OutputFlags, watched } from '../command-options.ts'
import type { CommandRunner } from '../command-runner.ts'
import { STATUS } from './status-text.ts'

/** Adds `status`. */
export function registerStatusCommand(program: Command, runner: CommandRunner): void {
  watched(program.command('status'))
    .description('show whether executors are alive, what waits, how late jobs start, and how Redis does')
    .action((flags: OutputFlags) => runner.request(flags, (api) => api.send('readStatus', {}), STATUS))
}
