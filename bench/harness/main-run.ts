import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BenchError } from './bench-error.ts'
import { killAllPrograms, stopAllPrograms } from './processes.ts'

const folders: string[] = []

/** A folder that is removed with the process. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'punctual-bench-'))
  folders.push(folder)
  return folder
}

/** Runs a benchmark and ends this process, with the code that `main` answers; nothing of it stays, however it ends. */
export async function runMain(main: () => Promise<number | void>): Promise<never> {
  process.once('exit', () => {
    killAllPrograms()
    for (const folder of folders) rmSync(folder, { recursive: true, force: true })
  })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130))
  let code = 1
  try {
    code = (await main()) ?? 0
  } catch (error) {
    console.error(error instanceof BenchError ? `bench: ${error.message}` : error)
  }
  await stopAllPrograms()
  process.exit(code)
}
