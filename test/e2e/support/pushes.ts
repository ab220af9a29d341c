import { inspect } from 'node:util'
import type { ReleaseAccess } from '../../support/cluster/kind-cluster.ts'
import { createApiClient, type ApiClient, type Push } from '../../support/servers/api-client.ts'

const AT_ONCE = 32
/** A disk that every pod of the node writes to holds Redis up for longer than any client here would wait once. */
const PATIENCE_MS = 30_000

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

export interface PushesDone {
  readonly accepted: number
  /** Each once, with how often it came. */
  readonly failures: readonly string[]
  /** Accepted ones, over the whole time. */
  readonly perSecond: number
}

export interface SteadyPushes {
  /** Resolves when every push under way has its answer. */
  stop(): Promise<PushesDone>
}

/**
 * Pushes at an even pace, whatever becomes of each push. One that is refused with `Retry-After` is sent again, as clients
 * do: a busy machine makes Redis late. Any other failure counts at once, such as a connection that is cut.
 */
export function startPushing(release: ReleaseAccess, perSecond: number, job: Push): SteadyPushes {
  const punctual = createApiClient(release.apiUrl, release.token, PATIENCE_MS)
  let accepted = 0
  const failures = new Map<string, number>()
  const startedAt = performance.now()
  const underWay = new Set<Promise<void>>()
  const timer = setInterval(() => {
    const push = punctual.push(job).then(
      () => {
        accepted += 1
      },
      (error: unknown) => {
        const failure = inspect(error)
        failures.set(failure, (failures.get(failure) ?? 0) + 1)
      },
    )
    underWay.add(push)
    void push.finally(() => underWay.delete(push))
  }, 1000 / perSecond)
  return {
    stop: async () => {
      clearInterval(timer)
      await Promise.all(underWay)
      const seconds = (performance.now() - startedAt) / 1000
      const told = [...failures].map(([failure, times]) => `${times} times ${failure}`)
      return { accepted, failures: told, perSecond: accepted / seconds }
    },
  }
}
