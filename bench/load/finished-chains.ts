/** Finished chains as the steps write them, without the steps: a million of them takes seconds. */
import type { AttemptSummary } from '../../src/domain/jobs/job.ts'
import { type Engine, shardOfQueue } from '../../src/redis/base/engine/engine.ts'
import { encodeFinished } from '../../src/redis/base/layout/finished-record.ts'
import { nameField } from '../../src/redis/base/layout/keys.ts'
import type { RedisServer } from '../harness/redis-server.ts'

/** What the chains ended in. */
export const SPAN_MS = 3_600_000
export const RARE_HOSTS = 10
const WRITTEN_AT_ONCE = 5_000

interface ChainPlan {
  readonly team: string
  /** It has been applied. */
  readonly queue: string
  readonly count: number
  readonly startMs: number
  /** The number of the first chain, where the queues of a shard have numbers of their own; absent = 0. */
  readonly first?: number
}

/** Chains that ended evenly over the last hour; every tag is its own. @returns the local id of the queue */
export async function writeChains(
  engine: Engine,
  { client }: RedisServer,
  { team, queue, count, startMs, first = 0 }: ChainPlan,
): Promise<string> {
  const keys = shardOfQueue(engine, team, queue)
  const localId = (await client.hget(keys.queueIds, nameField(team, queue))) ?? ''
  const { history, summaries } = keys.queue(localId)
  // Beyond the ids that are given to the jobs of the load.
  const seqFrom = 2 ** 30
  for (let from = 0; from < count; from += WRITTEN_AT_ONCE) {
    const roots: string[] = []
    const fields: string[] = []
    for (let i = from; i < Math.min(count, from + WRITTEN_AT_ONCE); i += 1) {
      const root = String(engine.jobIds.idOf(keys.shard, seqFrom + first + i, 1))
      roots.push(root)
      fields.push(root, summaryOf(i, startMs + Math.floor((SPAN_MS * i) / count)))
    }
    await client
      .pipeline()
      .lpush(history, ...roots)
      .hset(summaries, ...fields)
      .exec()
  }
  return localId
}

function summaryOf(i: number, endMs: number): string {
  const isFailure = i % 1_000 === 3
  const attempt: AttemptSummary = {
    createdAtMs: endMs - 40,
    scheduledAtMs: endMs - 40,
    startedAtMs: endMs - 30,
    completedAtMs: endMs,
    failureReason: isFailure ? 'timeout' : null,
    errorMessage: null,
    durationMs: 30,
    responseStatus: isFailure ? null : i % 1_000 === 4 ? 503 : 200,
  }
  return encodeFinished({
    end: isFailure ? 'failed_no_retries' : 'success',
    attempts: [attempt],
    request: {
      url: `https://${hostOf(i)}/hooks/mail`,
      method: 'POST',
      headers: {},
      callbackUrl: null,
      callbackEvents: null,
      tags: { order: String(i) },
      timeoutSeconds: null,
      retryDelays: null,
      retriesEnabled: null,
      successAssertions: null,
      cron: null,
    },
    replayedAs: null,
    hadNoPayload: false,
  })
}

/** Ten hosts have nearly all jobs; each of the others has one of a hundred thousand. */
function hostOf(i: number): string {
  return i % 10_000 === 5 ? `rare${((i / 10_000) | 0) % RARE_HOSTS}.example.com` : `h${i % 10}.example.com`
}
