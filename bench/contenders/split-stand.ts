import { join } from 'node:path'
import { BenchError } from '../harness/bench-error.ts'
import { runPushPlan } from '../harness/load.ts'
import { freePort } from '../harness/ports.ts'
import { logTail, startProgram, untilReady, type Program } from '../harness/processes.ts'
import { padded, queueName, type DataStore, type FillOptions, type Stand } from './contender.ts'

export const PEERS = join(import.meta.dirname, '../peers')
const FILL_WITHIN_MS = 180_000
const READY_WITHIN_MS = 60_000
const CONNECTIONS = 64

/** How a program of a peer is started. Its options are its last argument, as JSON. */
export interface PeerProgram {
  readonly command: string
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

/** A peer of two programs behind the same HTTP: one takes pushes in, the other calls. Both print READY. */
export interface SplitPeer {
  readonly name: string
  readonly intake: PeerProgram
  readonly worker: PeerProgram
  /** What both are told beside their own options, such as where the store is. */
  readonly options: Readonly<Record<string, unknown>>
}

/** A program in Node: `bench/peers/FOLDER/ROLE-process.ts`. */
export function nodeProgram(
  folder: string,
  role: string,
  env: Readonly<Record<string, string>> = {},
): PeerProgram {
  return { command: process.execPath, args: [join(PEERS, folder, `${role}-process.ts`)], env }
}

/** What peers of two programs share; a peer replaces what it does otherwise. */
export async function openSplitStand(peer: SplitPeer, store: DataStore, folder: string): Promise<Stand> {
  const port = await freePort()
  const intakeUrl = `http://127.0.0.1:${port}/api/jobs`
  const headers = { 'Content-Type': 'application/json' }
  const programs: Program[] = []

  const start = async (
    role: string,
    { command, args, env }: PeerProgram,
    options: object,
  ): Promise<Program> => {
    const told = JSON.stringify({ ...peer.options, ...options })
    const named = { name: `${peer.name}-${role}`, command, args: [...args, told], folder }
    const program = startProgram(env === undefined ? named : { ...named, env })
    programs.push(program)
    await untilReady(program, () => logTail(program).includes('READY'), READY_WITHIN_MS)
    return program
  }

  return {
    store,
    startIntake: async () => void (await start('api', peer.intake, { port })),
    startWork: (options) => start('worker', peer.worker, options),
    load: (targetUrl, delaySeconds) => {
      const delay = delaySeconds > 0 ? { delay: delaySeconds } : {}
      return { url: intakeUrl, headers, body: padded({ queue: 'bench', url: targetUrl, ...delay }) }
    },
    pacedPlan: (targetOrigin) => {
      const body = padded({ queue: 'bench', url: `${targetOrigin}/due?due={due}`, run_at: '{due_iso}' })
      return { url: intakeUrl, headers, body }
    },
    fill: (options) => fillByPushes({ url: intakeUrl, headers }, options),
    makeLimitedQueues: () =>
      Promise.reject(new BenchError(`${peer.name} is not measured with limited queues`)),
    makeIdleQueues: () => Promise.reject(new BenchError(`${peer.name} is not measured with idle queues`)),
    // It does not tell. What it has left to write after the last call is written while the target is seen to be still.
    isAtRest: () => Promise.resolve(true),
    cpuSeconds: () => programs.reduce((sum, program) => sum + program.cpuSeconds(), 0),
    close: async () => {
      await Promise.all(programs.map((program) => program.stop()))
      await store.stop()
    },
  }
}

/** Over the API, with as many connections as the load has. */
export async function fillByPushes(
  { url, headers }: { readonly url: string; readonly headers: Readonly<Record<string, string>> },
  { count, queues, delaySeconds, targetUrl }: FillOptions,
): Promise<void> {
  const delay = delaySeconds > 0 ? { delay: delaySeconds } : {}
  const body = padded({ queue: queueName(queues), url: targetUrl, ...delay })
  const pace = { connections: CONNECTIONS, perSecond: null, dueInMs: 0 }
  await runPushPlan({ url, headers, body, count, queues: queues ?? 1, ...pace }, FILL_WITHIN_MS)
}
