import { join } from 'node:path'
import { freePort } from './ports.ts'
import { startProgram, untilReady } from './processes.ts'

const PROCESS = join(import.meta.dirname, '../targets/hanging-target-process.ts')

export interface HangingState {
  /** Calls that wait for an answer. */
  readonly open: number
  /** Distinct paths answered since the release, and when the last new one was, in Unix ms. */
  readonly answered: number
  readonly lastAnsweredMs: number
}

/** A target that lets calls wait until it is released. */
export interface HangingTarget {
  /** One origin a port. */
  readonly origins: readonly string[]
  state(): Promise<HangingState>
  /** From now on every call is answered at once; those that wait go on waiting. */
  release(): Promise<void>
  stop(): Promise<void>
}

export async function startHangingTarget(folder: string, ports: number): Promise<HangingTarget> {
  const controlPort = await freePort()
  const chosen: number[] = []
  while (chosen.length < ports) chosen.push(await freePort())
  const program = startProgram({
    name: 'hanging-target',
    command: process.execPath,
    args: [PROCESS, JSON.stringify({ controlPort, ports: chosen })],
    folder,
  })
  const ask = async (path: string): Promise<HangingState> => {
    const answer = await fetch(`http://127.0.0.1:${controlPort}${path}`)
    return (await answer.json()) as HangingState
  }
  await untilReady(program, () =>
    ask('/state').then(
      () => true,
      () => false,
    ),
  )
  return {
    origins: chosen.map((port) => `http://127.0.0.1:${port}`),
    state: () => ask('/state'),
    release: async () => {
      await ask('/release')
    },
    stop: () => program.stop(),
  }
}
