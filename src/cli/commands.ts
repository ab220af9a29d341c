import type { Command } from 'commander'
import { registerAuditCommands } from './access/audit-commands.ts'
import { type CommandOptions, CommandRunner } from './command-runner.ts'
import { registerDashboardCommand } from './access/dashboard-command.ts'
import { registerJobCommands } from './jobs/job-commands.ts'
import { registerNotificationCommands } from './alerts/notification-commands.ts'
import { registerStatisticsCommands } from './queues/statistics-commands.ts'
import { addClusterOptions } from './cluster/cluster-options.ts'
import { registerCompletionCommand } from './completion/completion-command.ts'
import { registerImportCommand } from './crons/import/import-command.ts'
import { addExamples } from './output/examples.ts'
import { type Kind, registerKind } from './kind-commands.ts'
import {
  ALERTS,
  BULKS,
  CHANNELS,
  CRONS,
  ISSUES,
  QUEUES,
  SECRETS,
  SESSIONS,
  TOKENS,
  WINDOWS,
} from './kinds.ts'
import { registerPlanCommand } from './plan/plan-command.ts'
import { registerTeamCommands } from './access/team-commands.ts'
import { type ListenTools, registerListenCommand } from './receiver/listen-command.ts'
import { registerStatusCommand } from './access/status-command.ts'
import { registerVerifyCommand } from './receiver/verify-command.ts'

export interface ClientOptions extends CommandOptions, ListenTools {
  /** The clock of this machine, from which spans count. */
  readonly nowMs: () => number
}

/**
 * Adds the commands that talk to a running API. A command that fails prints one line to stderr and throws a
 * CommanderError with one of the exit codes of `cli-error.ts`. Anything else thrown is a fault of the program.
 */
export function registerClientCommands(program: Command, options: ClientOptions): void {
  const runner = new CommandRunner(options)
  const tools = { runner, stdin: options.stdin, sleep: options.sleep, nowMs: options.nowMs }
  const register = (kind: Kind): void => registerKind(program, kind, tools)
  program.commandsGroup('Jobs:')
  registerJobCommands(program, tools)
  register(BULKS)
  program.commandsGroup('Queues, crons and windows:')
  for (const kind of [QUEUES, CRONS, WINDOWS]) register(kind)
  program.commandsGroup('What happened:')
  registerStatisticsCommands(program, tools)
  register(ISSUES)
  registerStatusCommand(program, runner)
  register(ALERTS)
  registerNotificationCommands(program, runner)
  register(CHANNELS)
  registerAuditCommands(program, tools)
  program.commandsGroup('Access:')
  for (const kind of [TOKENS, SECRETS, SESSIONS]) register(kind)
  registerTeamCommands(program, runner)
  registerDashboardCommand(program, runner, options)
  program.commandsGroup('On this machine:')
  registerListenCommand(program, runner, options)
  registerVerifyCommand(program, runner, options.stdin)
  registerPlanCommand(program, runner)
  registerImportCommand(program, runner, options.stdin)
  registerCompletionCommand(program, runner)
  addExamples(program)
  if (options.bearerOf !== undefined) addClusterOptions(program)
}
