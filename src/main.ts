import { runPunctual } from './roles/program.ts'

process.exitCode = await runPunctual(process.argv)
