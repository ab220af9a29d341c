import { setTimeout as pause } from 'node:timers/promises'
import { registerClientCommands } from '../cli/client-commands.ts'
import { untilReaderLeaves } from '../cli/verb-output.ts'
import { buildProgram, runProgram } from '../settings/program.ts'
import { runApi } from './api.ts'
import { runController } from './controller.ts'
import { runDoctor } from './doctor/doctor.ts'
import { runExecutor } from './executor.ts'
import { runStandalone } from './standalone.ts'
import { VERSION } from './startup/version.ts'

/** Runs the command line; answers the exit code. */
export function runPunctual(argv: readonly string[]): Promise<number> {
  const program = buildProgram({
    version: VERSION,
    roles: {
      standalone: runStandalone,
      controller: runController,
      api: runApi,
      executor: runExecutor,
      doctor: (settings, report) =>
        runDoctor(settings, { ...report, stdout: process.stdout, stderr: process.stderr }),
    },
    registerClientCommands: (command, { server, token }) =>
      registerClientCommands(command, {
        serverDefault: server,
        tokenDefault: token,
        stdout: untilReaderLeaves(process.stdout),
        stderr: untilReaderLeaves(process.stderr),
        stdin: process.stdin,
        pause: (milliseconds) => pause(milliseconds),
      }),
  })
  return runProgram(program, argv)
}
