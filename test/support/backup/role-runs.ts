import { spawn } from 'node:child_process'
import { programCommand, programEnv } from '../servers/processes.ts'

/** What came of a role that does its work once. */
export interface RoleRun {
  readonly code: number | null
  /** What it was ended by. */
  readonly signal: NodeJS.Signals | null
  readonly out: Buffer
  readonly err: string
}

/** The same, while its input is still to come. */
export interface HeldRole {
  /** Resolves when the program has taken it from us. */
  feed(bytes: Buffer): Promise<void>
  /** Ends its input. */
  finish(): Promise<RoleRun>
  /** By SIGKILL, if no other is named. */
  kill(signal?: NodeJS.Signals): Promise<RoleRun>
}

export function holdRole(args: readonly string[], env: Readonly<Record<string, string>>): HeldRole {
  const { child, ended } = start(args, env)
  return {
    feed: (bytes) => new Promise((resolve) => child.stdin.write(bytes, () => resolve())),
    finish: () => {
      child.stdin.end()
      return ended
    },
    kill: (signal = 'SIGKILL') => {
      child.kill(signal)
      return ended
    },
  }
}

/** Runs the program to its end. @param input what it reads from standard input */
export function runRole(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  input: Buffer | null = null,
): Promise<RoleRun> {
  const { child, ended } = start(args, env)
  child.stdin.end(input ?? undefined)
  return ended
}

function start(args: readonly string[], env: Readonly<Record<string, string>>) {
  const [node = '', ...main] = programCommand()
  const child = spawn(node, [...main, ...args], { env: { ...programEnv(), ...env }, stdio: 'pipe' })
  const out: Buffer[] = []
  const err: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => err.push(chunk))
  // Who refuses to start reads nothing.
  child.stdin.on('error', () => undefined)
  const ended = new Promise<RoleRun>((resolve) => {
    child.once('close', (code, signal) =>
      resolve({ code, signal, out: Buffer.concat(out), err: Buffer.concat(err).toString() }),
    )
  })
  return { child, ended }
}
