import { registerClientCommands } from './client/client-commands.ts'
import { runApi } from './roles/api.ts'
import { runExecutor } from './roles/executor.ts'
import { runStandalone } from './roles/standalone.ts'
import { VERSION } from './roles/version.ts'
import { buildProgram, runProgram } from './settings/program.ts'

const program = buildProgram({
  version: VERSION,
  roles: { standalone: runStandalone, api: runApi, executor: runExecutor },
  registerClientCommands: (command, env) =>
    registerClientCommands(command, {
      serverDefault: env['PUNCTUAL_SERVER'] ?? 'http://127.0.0.1:8080',
      tokenDefault: env['PUNCTUAL_TOKEN'],
      stdout: process.stdout,
      stderr: process.stderr,
      stdin: process.stdin,
    }),
})

process.exitCode = await runProgram(program, process.argv)
