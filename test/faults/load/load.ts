import { fileURLToPath } from 'node:url'
import { runCommand } from '../../support/servers/processes.ts'
import { until } from '../../support/until.ts'
import type { PushPlan, PushRecord } from './push-record.ts'

const PUSH_PROCESS = fileURLToPath(new URL('push-process.ts', import.meta.url))
const WAIT_MS = 20_000

/** Pushes that go on at their pace until `stop`. */
export interface Load {
  /** The client's log so far, in the order of answers. */
  readonly records: readonly PushRecord[]
  /** Waits until so many more pushes have been accepted. */
  accepts(more: number): Promise<void>
  /** Waits until a push that is sent from now on is not accepted. */
  fails(): Promise<void>
  /** Resolves when every push has its answer, or has waited for it in vain. */
  stop(): Promise<void>
}

export function startLoad(plan: PushPlan): Load {
  const program = runCommand([process.execPath, PUSH_PROCESS, JSON.stringify(plan)], {})
  const records = program.log as unknown as readonly PushRecord[]
  const acceptedFrom = (at: number) => records.slice(at).filter(({ status }) => status === 201).length
  return {
    records,
    accepts: async (more) => {
      const from = records.length
      await until(`${more} more pushes are accepted`, () => acceptedFrom(from) >= more, WAIT_MS)
    },
    fails: async () => {
      const [from, sinceMs] = [records.length, Date.now()]
      const isFailed = ({ status, sentAtMs }: PushRecord) => status !== 201 && sentAtMs >= sinceMs
      await until('a push fails', () => records.slice(from).some(isFailed), WAIT_MS)
    },
    stop: async () => {
      program.signal('SIGTERM')
      const { code } = await program.exited
      if (code !== 0) throw new Error(`the pusher ended with ${code}: ${program.errorLines.join('\n')}`)
    },
  }
}
