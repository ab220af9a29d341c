import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { BenchError } from './bench-error.ts'

const SCRIPT = join(import.meta.dirname, '../load/push.lua')

export interface WrkAnswer {
  readonly requests: number
  readonly seconds: number
  /** Answers of 400 and above, and broken connections. */
  readonly errors: number
}

/** One kind of request, sent over and over. */
export interface HttpLoad {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Loads one URL of loopback with 64 connections for so long. */
export async function runWrk(load: HttpLoad, seconds: number): Promise<WrkAnswer> {
  const { stdout } = await promisify(execFile)(
    'wrk',
    ['-t', '1', '-c', '64', '-d', `${seconds}s`, '--timeout', '10s', '-s', SCRIPT, load.url],
    {
      env: { PATH: process.env['PATH'] ?? '', LOAD_HEADERS: headerLines(load.headers), LOAD_BODY: load.body },
      timeout: (seconds + 30) * 1000,
    },
  )
  const line = /^RESULT (\d+) (\d+) (\d+)$/m.exec(stdout)
  if (line === null) throw new BenchError(`wrk said nothing that can be read:\n${stdout.slice(-500)}`)
  return { requests: Number(line[1]), seconds: Number(line[2]) / 1e6, errors: Number(line[3]) }
}

function headerLines(headers: Readonly<Record<string, string>>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')
}
