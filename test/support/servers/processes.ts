/** Roles as real processes: started, killed, stopped, and judged by what they logged. */
import { spawn, type ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { until } from '../until.ts'
import { workerEnvironment } from './worker-processes.ts'

/** A start among five others on a busy machine; one that fails ends the waiting. */
const LOGGED_TIMEOUT_MS = 60_000

const MAIN = fileURLToPath(new URL('../../../src/main.ts', import.meta.url))

export interface LogLine {
  readonly level: string
  readonly msg: string
  readonly [field: string]: unknown
}

export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export interface Program {
  readonly pid: number
  /** Parsed lines of standard output, in order. */
  readonly log: readonly LogLine[]
  /** Lines of standard output that are no JSON. */
  readonly strayLines: readonly string[]
  readonly errorLines: readonly string[]
  /** Resolves when its last line is here as well. */
  readonly exited: Promise<Exit>
  /** Neither ended nor killed by `signal`. */
  isRunning(): boolean
  signal(name: NodeJS.Signals): void
  /** As Ctrl-C does: the process and its children, but those in a session of their own. */
  signalGroup(name: NodeJS.Signals): void
  /** The first line with this message, waited for; from the `after`-th line on. */
  logged(message: string, options?: { timeoutMs?: number; after?: number }): Promise<LogLine>
}

const living = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of living) child.kill('SIGKILL')
})

/**
 * Starts the program with exactly these `PUNCTUAL_*` variables.
 * @param version the folder of another version; null = this checkout
 */
export function runProgram(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  version: string | null = null,
): Program {
  return runCommand([...programCommand(version), ...args], env)
}

/** What every start of the program is given beside its own variables. */
export function programEnv(): Record<string, string> {
  const { PATH = '', HOME = '' } = process.env
  return { PATH, HOME, ...workerEnvironment() }
}

/** The program's command line, for whoever puts another command before it. */
export function programCommand(version: string | null = null): string[] {
  return [process.execPath, version === null ? MAIN : join(version, 'src/main.ts')]
}

/** Starts what runs the program in the end, as the leader of a process group. */
export function runCommand(
  [command = '', ...args]: readonly string[],
  env: Readonly<Record<string, string>>,
): Program {
  const log: LogLine[] = []
  const strayLines: string[] = []
  const errorLines: string[] = []
  const child = spawn(command, args, {
    detached: true,
    env: { ...programEnv(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  living.add(child)
  createInterface(child.stdout).on('line', (line) => {
    const parsed = parseLine(line)
    if (parsed === null) strayLines.push(line)
    else log.push(parsed)
  })
  createInterface(child.stderr).on('line', (line) => errorLines.push(line))
  let isOver = false
  const exited = new Promise<Exit>((resolve) => {
    child.once('close', (code, signal) => {
      living.delete(child)
      isOver = true
      resolve({ code, signal })
    })
  })
  let isKilled = false
  return {
    pid: child.pid ?? 0,
    log,
    strayLines,
    errorLines,
    exited,
    isRunning: () => !isKilled && child.exitCode === null && child.signalCode === null,
    signal: (name) => {
      isKilled ||= name === 'SIGKILL'
      child.kill(name)
    },
    signalGroup: (name) => void process.kill(-(child.pid ?? 0), name),
    logged: async (message, { timeoutMs = LOGGED_TIMEOUT_MS, after = 0 } = {}) => {
      const find = () => log.slice(after).find((line) => line.msg === message)
      const found = await until(
        `"${message}" in the log of ${args.join(' ')}`,
        () => find() ?? isOver,
        timeoutMs,
      )
      const line = found === true ? find() : found
      if (line !== undefined) return line
      throw new Error(`${args.join(' ')} ended without "${message}": ${errorLines.join('\n')}`)
    },
  }
}

function parseLine(line: string): LogLine | null {
  try {
    return JSON.parse(line) as LogLine
  } catch {
    return null
  }
}

export interface StopExpectation {
  /** Messages at level error that the test provoked. */
  readonly errors?: readonly string[]
  /** Lines on standard error that it provoked. */
  readonly errorLines?: readonly string[]
  readonly timeoutMs?: number
}

/**
 * Ends a role as an operator does; answers what was not as it should be: exit code, log lines, errors. One that a test
 * killed is only asked for its log.
 */
export async function stopProgram(program: Program, expectation: StopExpectation = {}): Promise<string[]> {
  const { timeoutMs = 20_000 } = expectation
  const wasRunning = program.isRunning()
  if (wasRunning) program.signal('SIGTERM')
  const exit = await withinDeadline(program.exited, timeoutMs)
  if (exit === null) {
    program.signal('SIGKILL')
    return [`did not stop within ${timeoutMs} ms; last line: ${JSON.stringify(program.log.at(-1))}`]
  }
  const code = exit.code === 0 || !wasRunning ? [] : [`exit ${exit.code} ${exit.signal}`]
  return [...code, ...complaintsAbout(program, expectation)]
}

/** What a role wrote that it must never write, whatever was done to it. */
export function complaintsAbout(
  program: Program,
  { errors = [], errorLines = [] }: StopExpectation = {},
): string[] {
  const unexpected = program.log.filter(
    (line) => (line.level === 'error' || line.level === 'fatal') && !errors.includes(line.msg),
  )
  return [
    ...program.strayLines.map((line) => `not JSON: ${line}`),
    ...program.errorLines
      .filter((line) => !errorLines.includes(line))
      .map((line) => `on standard error: ${line}`),
    ...unexpected.map((line) => `logged ${JSON.stringify(line)}`),
  ]
}

async function withinDeadline<T>(promise: Promise<T>, timeoutMs: number): Promise<T | null> {
  const { promise: late, resolve } = Promise.withResolvers<null>()
  const timer = setTimeout(() => resolve(null), timeoutMs)
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}
