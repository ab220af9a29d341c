import { spawn, type ChildProcess } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { BenchError } from './bench-error.ts'
import { readCpuSeconds } from './cpu-time.ts'
import { waitUntil } from './waiting.ts'

const STOP_GRACE_MS = 3_000
const LOG_TAIL_CHARACTERS = 600

/** Whom a program runs as. */
export interface User {
  readonly uid: number
  readonly gid: number
}

/** A program the benchmark started. */
export interface Program {
  readonly name: string
  readonly pid: number
  /** User and system time so far, of it and of all it has started, in seconds; stays readable after the end. */
  cpuSeconds(): number
  rssMib(): number
  hasEnded(): boolean
  kill(signal: NodeJS.Signals): void
  /** Asks it to end, then kills it. May be called again. */
  stop(): Promise<void>
}

const running = new Set<Program>()

/** Starts a program with its output in a log file of `folder`. */
export function startProgram(options: {
  name: string
  command: string
  args: readonly string[]
  folder: string
  env?: Readonly<Record<string, string>>
  /** Null = whoever this process is. */
  user?: User | null
}): Program {
  const logPath = join(options.folder, `${options.name}-${Date.now()}.log`)
  const log = openSync(logPath, 'a')
  const child = spawn(options.command, [...options.args], {
    stdio: ['ignore', log, log],
    env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...options.env },
    ...options.user,
  })
  closeSync(log)
  if (child.pid === undefined) throw new BenchError(`${options.name} could not be started`)
  const program = toProgram(options.name, child, child.pid)
  running.add(program)
  child.once('exit', () => running.delete(program))
  child.once('error', () => running.delete(program))
  logPaths.set(program, logPath)
  return program
}

const logPaths = new WeakMap<Program, string>()

function toProgram(name: string, child: ChildProcess, pid: number): Program {
  let lastCpuSeconds = 0
  let stopping: Promise<void> | null = null
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null

  const stop = async (): Promise<void> => {
    if (hasEnded()) return
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
    child.kill('SIGTERM')
    const cut = setTimeout(() => child.kill('SIGKILL'), STOP_GRACE_MS)
    await ended
    clearTimeout(cut)
  }

  return {
    name,
    pid,
    cpuSeconds: () => {
      try {
        lastCpuSeconds = readCpuSeconds(pid)
      } catch {
        // It has ended: what was read last stands.
      }
      return lastCpuSeconds
    },
    rssMib: () => readRssMib(pid),
    hasEnded,
    kill: (signal) => void child.kill(signal),
    stop: () => (stopping ??= stop()),
  }
}

/** Waits until a program is ready for work; throws with the end of its log when it dies or takes too long. */
export async function untilReady(
  program: Program,
  check: () => boolean | Promise<boolean>,
  withinMs = 20_000,
): Promise<void> {
  try {
    await waitUntil(`${program.name} is ready`, async () => program.hasEnded() || (await check()), {
      withinMs,
    })
  } catch (error) {
    throw new BenchError(`${String(error)}\n${logTail(program)}`)
  }
  if (program.hasEnded()) throw new BenchError(`${program.name} ended at its start:\n${logTail(program)}`)
}

export function logTail(program: Program): string {
  const path = logPaths.get(program)
  return path === undefined ? '' : readFileSync(path, 'utf8').slice(-LOG_TAIL_CHARACTERS)
}

/** Whatever is still running; called at the end, however the end came. */
export async function stopAllPrograms(): Promise<void> {
  await Promise.all([...running].map((program) => program.stop()))
}

/** For the exit handler, which cannot wait. */
export function killAllPrograms(): void {
  for (const program of running) program.kill('SIGKILL')
}

function readRssMib(pid: number): number {
  const line = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
  return Number(line?.[1] ?? Number.NaN) / 1024
}
