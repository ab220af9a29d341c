import type { Command } from 'commander'
import { registerAlertCommands } from './alerts/alert-commands.ts'
import { registerAuditCommands } from './audit/audit-commands.ts'
import { registerBulkCommands } from './bulk/bulk-commands.ts'
import { type CommandOptions, CommandRunner } from './command-runner.ts'
import { registerDashboardCommand } from './dashboard/dashboard-command.ts'
import { registerCronCommands } from './crons/cron-commands.ts'
import { registerJobCommands } from './jobs/job-commands.ts'
import { registerNotificationCommands } from './notifications/notification-commands.ts'
import { registerSecretCommands } from './secrets/secret-commands.ts'
import { registerTokenCommands } from './tokens/token-commands.ts'
import { registerStatisticsCommands } from './statistics/statistics-commands.ts'
import { addClusterOptions } from './cluster/cluster-options.ts'
import { registerCompletionCommand } from './completion/completion-command.ts'
import { registerPlanCommand } from './plan/plan-command.ts'
import { registerQueueCommands } from './queues/queue-commands.ts'
import { registerTeamCommands } from './team/team-commands.ts'
import { type ListenTools, registerListenCommand } from './receiver/listen-command.ts'
import { registerVerifyCommand } from './receiver/verify-command.ts'
import { registerWindowCommands } from './windows/window-commands.ts'

export interface ClientOptions extends CommandOptions, ListenTools {}

/**
 * Adds the commands that talk to a running API. A command that fails prints one line to stderr and throws a
 * CommanderError with one of the exit codes of `cli-error.ts`. Anything else thrown is a fault of the program.
 */
export function registerClientCommands(program: Command, options: ClientOptions): void {
  const runner = new CommandRunner(options)
  const clock = { stdin: options.stdin, nowMs: () => Date.now() }
  program.commandsGroup('Jobs:')
  registerJobCommands(program, runner, options)
  registerBulkCommands(program, runner, options)
  program.commandsGroup('Queues, crons and windows:')
  registerQueueCommands(program, runner, options.stdin)
  registerCronCommands(program, runner, options.stdin)
  registerWindowCommands(program, runner, clock)
  program.commandsGroup('What happened:')
  registerStatisticsCommands(program, runner)
  registerAlertCommands(program, runner)
  registerNotificationCommands(program, runner)
  registerAuditCommands(program, runner)
  program.commandsGroup('Access:')
  registerTokenCommands(program, runner, clock)
  registerSecretCommands(program, runner)
  registerTeamCommands(program, runner)
  registerDashboardCommand(program, runner, options)
  program.commandsGroup('On this machine:')
  registerListenCommand(program, runner, options)
  registerVerifyCommand(program, runner, options.stdin)
  registerPlanCommand(program, runner)
  registerCompletionCommand(program, runner)
  if (options.bearerOf !== undefined) addClusterOptions(program)
}
