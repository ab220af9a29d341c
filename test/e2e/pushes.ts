import { inspect } from 'node:util'
import type { ApiClient, Push } from '../support/api-client.ts'

const AT_ONCE = 32

/** Pushes `count` alike jobs, some at once; resolves when all are accepted. */
export async function pushMany(punctual: ApiClient, count: number, job: Push): Promise<void> {
  let left = count
  const pushOnAndOn = async () => {
    while (left > 0) {
      left -= 1
      await punctual.push(job)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, pushOnAndOn))
}

export interface SteadyPushes {
  /** Resolves when every push under way has its answer. */
  stop(): Promise<{ readonly accepted: number; readonly failures: readonly string[] }>
}

/** Pushes at an even pace, whatever becomes of each push. */
export function startPushing(punctual: ApiClient, perSecond: number, job: Push): SteadyPushes {
  let accepted = 0
  const failures: string[] = []
  const underWay = new Set<Promise<void>>()
  const timer = setInterval(() => {
    const push = punctual.push(job).then(
      () => {
        accepted += 1
      },
      (error: unknown) => {
        failures.push(inspect(error))
      },
    )
    underWay.add(push)
    void push.finally(() => underWay.delete(push))
  }, 1000 / perSecond)
  return {
    stop: async () => {
      clearInterval(timer)
      await Promise.all(underWay)
      return { accepted, failures }
    },
  }
}
