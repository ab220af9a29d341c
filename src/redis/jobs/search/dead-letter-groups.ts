import type { CostGate } from '../../../domain/shares/cost-gate.ts'
import type { JobFilter } from '../../../domain/jobs/job-filter.ts'
import { hostOf } from '../../../domain/jobs/job-match.ts'
import type { AttemptSummary } from '../../../domain/jobs/job.ts'
import type { DeadLetterGroup, DeadLetterGroupPage, DeadLetterQuery, ListedJob } from '../../../ports/jobs.ts'
import type { KnownQueue } from '../../base/names/known-queue.ts'
import type { Engine } from '../../base/engine/engine.ts'
import { formatJobCursor, parseJobCursor } from './job-cursor.ts'
import { queuesFrom } from './listed-queues.ts'
import { readFirst, walkQueues } from './queue-walk.ts'
import { searchInTurn } from './search-visit.ts'
import { SearchBudget, SEARCHED_RECORDS_MAX } from './sections/search-budget.ts'
import { FIRST_SPOTS, READ_AT_ONCE } from './sections/section-page.ts'

/** One request names at most this many groups; a step finds no more new ones than it reads. */
const GROUPS_MAX = 1_000

/**
 * Groups dead letters by what their originals have in common, as filters compare it. The gate bounds how many such
 * requests look through records at once.
 */
export async function groupDeadLetters(
  engine: Engine,
  { team, queues, filter: asked, cursor, signal }: DeadLetterQuery,
  gate: CostGate | null,
): Promise<DeadLetterGroupPage | 'bad_cursor' | 'too_many_searches'> {
  const filter: JobFilter = { ...asked, status: 'dead_lettered' }
  const scope = { list: 'dead-letter groups', team, filter } as const
  const from = cursor === null ? null : parseJobCursor(scope, cursor)
  if (from === null && cursor !== null) return 'bad_cursor'
  return searchInTurn({ team, gate, signal }, async (inTurn) => {
    const budget = new SearchBudget(SEARCHED_RECORDS_MAX)
    const groups = new Map<string, DeadLetterGroup>()
    const { next } = await walkQueues(engine, {
      filter,
      from,
      budget,
      firstSpots: FIRST_SPOTS,
      limit: GROUPS_MAX - READ_AT_ONCE,
      queuesFrom: (position) => queuesFrom(engine, { team, queues, filter }, position),
      read: async (sections, room) => {
        const [{ queue }] = sections
        const part = await inTurn(() =>
          readFirst(engine, sections, { room: Math.max(room, READ_AT_ONCE), budget }),
        )
        const purges = await purgesOf(engine, queue, part.jobs)
        // The first of each group stands for it, so that the walk ends when there are too many groups.
        return { jobs: part.jobs.filter((job, i) => addTo(groups, job, purges[i] ?? null)), rest: part.rest }
      },
    })
    const nextCursor = next === null ? null : formatJobCursor(scope, next)
    return { groups: [...groups.values()], nextCursor, searched: budget.searched }
  })
}

/** Reads when the dead letters are purged, in Unix ms; null = the dead letter has left meanwhile. */
async function purgesOf(
  engine: Engine,
  queue: KnownQueue,
  jobs: readonly ListedJob[],
): Promise<ReadonlyArray<number | null>> {
  if (jobs.length === 0) return []
  const { deadLetters } = queue.keys.queue(queue.localId)
  const ids = jobs.map(({ chain }) => String(chain.rootId))
  const purges = await engine.runner.read((redis) => redis.zmscore(deadLetters, ...ids))
  return purges.map((score) => (score === null ? null : Number(score)))
}

/** @returns whether the dead letter is the first of its group */
function addTo(
  groups: Map<string, DeadLetterGroup>,
  { jobId, chain }: ListedJob,
  purgeMs: number | null,
): boolean {
  const [original] = chain.attempts
  // Every dead letter has ended an attempt.
  if (original === undefined) return false
  const one = groupOf({ jobId, chain }, original, purgeMs)
  const key = JSON.stringify([one.queueId, one.failureReason, one.responseStatus, one.host])
  const known = groups.get(key)
  groups.set(key, known === undefined ? one : together(known, one))
  return known === undefined
}

function groupOf(
  { jobId, chain }: ListedJob,
  original: AttemptSummary,
  purgeMs: number | null,
): DeadLetterGroup {
  const { failureReason, responseStatus, errorMessage, completedAtMs } = original
  return {
    queueId: chain.queueId,
    queueName: chain.queueName,
    host: hostOf(chain.request.url),
    failureReason,
    responseStatus,
    errorMessage,
    count: 1,
    newestJobId: jobId,
    firstEndedAtMs: completedAtMs,
    lastEndedAtMs: completedAtMs,
    nextPurgeAtMs: purgeMs,
  }
}

function together(known: DeadLetterGroup, one: DeadLetterGroup): DeadLetterGroup {
  const newest = one.lastEndedAtMs > known.lastEndedAtMs ? one : known
  return {
    ...newest,
    count: known.count + one.count,
    firstEndedAtMs: Math.min(known.firstEndedAtMs, one.firstEndedAtMs),
    nextPurgeAtMs: leastOf(known.nextPurgeAtMs, one.nextPurgeAtMs),
  }
}

function leastOf(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b
  return Math.min(a, b)
}
