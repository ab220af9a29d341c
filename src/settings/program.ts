import { Command, CommanderError, Option } from 'commander'
import { RoleEndedError, StartupError } from '../domain/errors.ts'
import { CHECK_NAMES, type CheckName } from './check-names.ts'
import { CLIENT_VARIABLES, type ClientSettings, readClientSettings } from './client-settings.ts'
import {
  loadApiSettings,
  loadBackupSettings,
  loadControllerSettings,
  loadDoctorSettings,
  loadExecutorSettings,
  loadPrepareSettings,
  loadRestoreSettings,
  loadUninstallSettings,
  loadStandaloneSettings,
  ROLE_TABLES,
  unknownVariables,
} from './role-settings.ts'
import type {
  ApiSettings,
  BackupSettings,
  ControllerSettings,
  DoctorSettings,
  ExecutorSettings,
  PrepareSettings,
  RestoreSettings,
  StandaloneSettings,
  UninstallSettings,
} from './role-settings.ts'
import { flagOf } from './setting.ts'
import type { AnySetting, Environment, GivenFlags, RoleName } from './setting.ts'

/** @property only the one check to make; null = all */
interface DoctorReport {
  readonly isJson: boolean
  readonly only: CheckName | null
}

/** Each runs a role until it ends; a rejection ends the program. */
export interface RoleRunners {
  standalone(settings: StandaloneSettings): Promise<void>
  controller(settings: ControllerSettings): Promise<void>
  api(settings: ApiSettings): Promise<void>
  executor(settings: ExecutorSettings): Promise<void>
  /** Makes what an installation begins with, and ends. */
  prepare(settings: PrepareSettings): Promise<void>
  uninstall(settings: UninstallSettings): Promise<void>
  /** Looks once and reports; answers whether nothing was found. */
  doctor(settings: DoctorSettings, report: DoctorReport): Promise<boolean>
  /** @param file where the backup goes; `-` = standard output */
  backup(settings: BackupSettings, file: string): Promise<void>
  /** @param file the backup; `-` = standard input */
  restore(settings: RestoreSettings, file: string): Promise<void>
}

export interface ProgramOptions {
  readonly version: string
  readonly roles: RoleRunners
  /** Adds the client verbs to the program. */
  readonly registerClientCommands?: ((program: Command, settings: ClientSettings) => void) | undefined
  /** The process's variables unless given. */
  readonly env?: Environment
  /** Standard output and error unless given. */
  readonly output?: { writeOut(text: string): void; writeErr(text: string): void }
}

const MISUSE = 2

/** Builds the command line: a command for each role, then the client verbs. Nothing runs yet. */
export function buildProgram(options: ProgramOptions): Command {
  const env = options.env ?? process.env
  const program = new Command('punctual')
    .description('Sends HTTP requests on time: queued jobs with retries, dead letters and callbacks.')
    .version(options.version, '-V, --version')
    .exitOverride()
    .showHelpAfterError(false)
  program.configureOutput({
    ...options.output,
    outputError: (text, write) =>
      write(
        `punctual: ${text
          .replace(/^error: /, '')
          .trim()
          .replaceAll('\n', ' ')}\n`,
      ),
  })
  const { roles } = options
  program.hook('preAction', () => {
    for (const name of unknownVariables(env, Object.values(CLIENT_VARIABLES))) {
      const { writeErr = (text: string) => void process.stderr.write(text) } = options.output ?? {}
      writeErr(`punctual: ${name} is not a setting and has no effect.\n`)
    }
  })
  addRole(program, 'standalone', 'run everything on this machine: API, executor and its own Redis', (flags) =>
    roles.standalone(loadStandaloneSettings(env, flags)),
  )
  addRole(program, 'controller', 'apply Kubernetes resources and scale the executors', (flags) =>
    roles.controller(loadControllerSettings(env, flags)),
  )
  addRole(program, 'api', 'accept jobs over HTTP', (flags) => roles.api(loadApiSettings(env, flags)))
  addRole(program, 'executor', 'make the calls', (flags) => roles.executor(loadExecutorSettings(env, flags)))
  addRole(
    program,
    'doctor',
    'check an installation, and inspect all that it holds in Redis; writes nothing',
    async (flags) => {
      const only = CHECK_NAMES.find((name) => name === flags['only']) ?? null
      const report = { isJson: flags['json'] === true, only }
      const isHealthy = await roles.doctor(loadDoctorSettings(env, flags), report)
      if (!isHealthy) throw new CommanderError(1, 'punctual.doctor', 'the doctor has findings')
    },
  )
    .option('--json', 'one JSON document on standard output')
    .addOption(new Option('--only <check>', 'make one check only').choices(CHECK_NAMES))
  addBackupRoles(program, env, roles)
  addRole(program, 'prepare', 'make the Secrets of an installation on Kubernetes that are missing', (flags) =>
    roles.prepare(loadPrepareSettings(env, flags)),
  )
  addRole(program, 'uninstall', 'prepare an installation on Kubernetes for its removal', (flags) =>
    roles.uninstall(loadUninstallSettings(env, flags)),
  )
  options.registerClientCommands?.(program, readClientSettings(env))
  return program
}

/**
 * Runs the command line to its end.
 * @param argv as `process.argv`: the program's path first
 * @returns the exit code: 0, 2 for a mistake in how it was started, the code that a verb chose, otherwise 1
 */
export async function runProgram(
  program: Command,
  argv: readonly string[],
  writeError: (text: string) => void = (text) => void process.stderr.write(text),
): Promise<number> {
  try {
    await program.parseAsync(argv)
    return 0
  } catch (error) {
    if (error instanceof CommanderError) return commanderExitCode(error)
    if (error instanceof StartupError || error instanceof RoleEndedError) {
      for (const line of error.message.split('\n')) writeError(`punctual: ${line}\n`)
      return error instanceof StartupError ? MISUSE : 1
    }
    writeError(`punctual: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`)
    return 1
  }
}

/** Commander uses 1 for everything it refuses itself; the code of a verb stays as it is. */
function commanderExitCode(error: CommanderError): number {
  return error.exitCode === 1 && error.code.startsWith('commander.') ? MISUSE : error.exitCode
}

function addRole(
  program: Command,
  name: RoleName,
  description: string,
  run: (flags: GivenFlags) => Promise<void>,
): Command {
  return withSettings(program, name, description).action((flags: GivenFlags) => run(flags))
}

function addBackupRoles(program: Command, env: Environment, roles: RoleRunners): void {
  addFileRole(program, 'backup', 'write all that an installation holds in Redis into a file', {
    file: 'the file to make; - writes to standard output',
    run: (flags, file) => roles.backup(loadBackupSettings(env, flags), file),
  })
  addFileRole(program, 'restore', 'put a backup into an empty Redis', {
    file: 'the file that punctual backup wrote; - reads standard input',
    run: (flags, file) => roles.restore(loadRestoreSettings(env, flags), file),
  })
}

/** A role that is told a file. */
function addFileRole(
  program: Command,
  name: RoleName,
  description: string,
  { file, run }: { readonly file: string; run(flags: GivenFlags, file: string): Promise<void> },
): void {
  withSettings(program, name, description)
    .argument('<file>', file)
    .action((given: string, flags: GivenFlags) => run(flags, given))
}

function withSettings(program: Command, name: RoleName, description: string): Command {
  const command = program.command(name).description(description)
  for (const [key, setting] of Object.entries<AnySetting>(ROLE_TABLES[name])) {
    command.addOption(optionOf(setting, key))
  }
  return command.addHelpText('after', '\nA flag beats its variable. docs/reference/settings.md says more.')
}

function optionOf(setting: AnySetting, key: string): Option {
  const value = setting.placeholder === null ? '' : ` <${setting.placeholder}>`
  const notes = `(${setting.variable}, default: ${setting.initialText})`
  const option = new Option(`${flagOf(setting)}${value}`, `${setting.help} ${notes}`)
  option.attributeName = () => key
  return option
}
