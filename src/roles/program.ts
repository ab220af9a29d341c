import { setTimeout as pause } from 'node:timers/promises'
import { registerClientCommands } from '../client/client-commands.ts'
import { buildProgram, runProgram } from '../settings/program.ts'
import { runApi } from './api.ts'
import { runController } from './controller.ts'
import { runExecutor } from './executor.ts'
import { runStandalone } from './standalone.ts'
import { VERSION } from './version.ts'

const SERVER_DEFAULT = 'http://127.0.0.1:8080'

/** Runs the command line; answers the exit code. */
export function runPunctual(argv: readonly string[]): Promise<number> {
  const program = buildProgram({
    version: VERSION,
    roles: { standalone: runStandalone, controller: runController, api: runApi, executor: runExecutor },
    registerClientCommands: (command, env) =>
      registerClientCommands(command, {
        serverDefault: env['PUNCTUAL_SERVER'] ?? SERVER_DEFAULT,
        tokenDefault: env['PUNCTUAL_TOKEN'],
        stdout: process.stdout,
        stderr: process.stderr,
        stdin: process.stdin,
        pause: (milliseconds) => pause(milliseconds),
      }),
  })
  return runProgram(program, argv)
}
