import assert from 'node:assert/strict'
import { endAttempt } from '../../../src/domain/jobs/retry-policy.ts'
import { callbackFor } from '../../../src/domain/jobs/callback.ts'
import type { CallRecord } from '../../../src/domain/jobs/job.ts'
import type {
  ClaimedJob,
  ClaimedWork,
  ClaimGrant,
  JobSource,
  WorkEnd,
  JobIntake,
  NewJob,
} from '../../../src/ports/jobs.ts'
import { inspect } from '../../../src/redis/upkeep/inspection/inspect.ts'
import { RedisJobSource } from '../../../src/redis/jobs/execute/job-source.ts'
import { newJob } from './engine.ts'
import type { World } from './model-world.ts'
import { grantOf } from './claim-grant.ts'

/** An executor with a lease on one shard, driven by a test. */
export async function openExecutor(world: World, name: string, shard = 0): Promise<JobSource> {
  const source = new RedisJobSource(world.engine, shard, name)
  assert.equal((await source.beat(true)).status, 'ok')
  return source
}

export async function claimed(
  source: JobSource,
  grant: number | ClaimGrant,
): Promise<readonly ClaimedWork[]> {
  const answer = await source.claim(typeof grant === 'number' ? grantOf(grant) : grant)
  assert.equal(answer.status, 'claimed')
  return answer.status === 'claimed' ? answer.work : []
}

/** Pushes in one batch per shard. Answers the job ids. */
export async function pushAll(
  intake: JobIntake,
  count: number,
  change: Parameters<typeof newJob>[0] = {},
): Promise<number[]> {
  const answers = await Promise.all(Array.from({ length: count }, () => intake.push(newJob(change))))
  return answers.map((answer) => {
    assert.equal(answer.status, 'created')
    return 'jobId' in answer ? answer.jobId : Number.NaN
  })
}

export async function pushOne(intake: JobIntake, change: Partial<NewJob> = {}): Promise<number> {
  const [id] = await pushAll(intake, 1, change)
  return id as number
}

/** The end of a job whose target answered 200 or 500. */
export function ended(
  world: World,
  work: ClaimedWork,
  outcome: { failed: boolean; call?: CallRecord } = { failed: false },
): WorkEnd {
  if (work.kind === 'callback') return { type: 'callback_ended', work }
  if (work.kind === 'damaged') return { type: 'quarantined', work }
  const { failed } = outcome
  const end = endAttempt(work, {
    completedAtMs: world.engine.runner.redisNowMs(work.shard),
    durationMs: 5,
    responseStatus: failed ? 500 : 200,
    failureReason: failed ? 'http_server_error' : null,
    errorMessage: null,
  })
  const { rootId, attempt, request, settings } = work
  const { jobIds } = world.engine
  const callback = callbackFor({ rootId, attempt, request, events: settings.callbackEvents, end, jobIds })
  return { type: 'ended', work, end, callback, call: outcome.call ?? null }
}

/** @param length of the request body on record */
export function callRecord(work: ClaimedJob, startedAtMs: number, length: number): CallRecord {
  const nothing = { dnsMs: null, connectMs: null, tlsMs: null, firstByteMs: null, bodyMs: null }
  return {
    jobId: work.jobId,
    attempt: work.attempt,
    startedAtMs,
    durationMs: 5,
    request: {
      method: 'POST',
      url: work.request.url,
      headers: [],
      body: 'é'.repeat(length),
      bodyTruncated: false,
    },
    response: null,
    failureReason: null,
    errorMessage: null,
    timings: { queueWaitMs: 0, ...nothing },
  }
}

export async function assertClean(world: World): Promise<void> {
  assert.deepEqual(await inspect(world.engine), [])
}
