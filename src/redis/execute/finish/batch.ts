import { FINISHED_CHAINS_PER_CRON_SLACK, NEAR_DELAY_SECONDS_MAX } from '../../../domain/limits.ts'
import type { Engine } from '../../client/engine.ts'
import { callbackQueueOf, type ShardKeys } from '../../layout/keys.ts'
import type { Argument } from '../../client/step.ts'

/** One job as `finish` and `reap` are told about it; see execute/finish/batch.lua. */
export interface BatchJob {
  readonly id: number
  readonly root: number
  readonly seq: number
  /** Local queue id. */
  readonly queue: string
  readonly token: string
  /** s success · f failed_no_retries · r retry · d dead letter · g given back · c end of a callback · x set aside */
  readonly kind: 's' | 'f' | 'r' | 'd' | 'g' | 'c' | 'x'
  readonly settingsHash: string
  readonly isLarge: boolean
  /** Of its record and what is large of its request; null when that is not known here. */
  readonly bytes: number | null
  /** Until the retry, or until a dead letter is purged. */
  readonly delayMs: number
  readonly record: string
  readonly call: string
  /** That reports it, and whose: a record of the team's callback queue. */
  readonly callback: { readonly team: string; readonly record: string } | null
  /** The cron whose run ends with this job; null when it is none, or the run goes on. */
  readonly run: EndedRun | null
}

/** As cron records are written; see crons/tick/tick.lua. */
export interface EndedRun {
  readonly cronId: number
  readonly record: string
  readonly tickMs: number
}

/** Estimates of Redis time are good to this; both minutes are declared near a boundary. */
const CLOCK_TOLERANCE_MS = 1500

/** The minute buckets a job due at about `dueMs` may fall into. */
export function minutesAround(dueMs: number): number[] {
  const first = Math.floor((dueMs - CLOCK_TOLERANCE_MS) / 60_000)
  const last = Math.floor((dueMs + CLOCK_TOLERANCE_MS) / 60_000)
  return first === last ? [first] : [first, last]
}

const SHARD_PARTS = [
  ...(['ring', 'nearSet', 'minutes', 'settings', 'settingsUses', 'retentionDue', 'oldestCalls'] as const),
  ...(['shardUsage', 'teamUsage', 'teams', 'teamNumbers', 'suspects'] as const),
] as const
const QUEUE_PARTS = [
  ...(['meta', 'ready', 'records', 'inFlight', 'payloads', 'deadLetters', 'deadLetterRecords'] as const),
  ...(['history', 'summaries', 'callRecords', 'failedCalls', 'successfulCalls'] as const),
] as const

export async function batchKeys(
  engine: Engine,
  keys: ShardKeys,
  executor: string,
  jobs: readonly BatchJob[],
): Promise<{ keys: string[]; args: Argument[] }> {
  const queueIndex = new Map<string, number>()
  for (const job of jobs) if (!queueIndex.has(job.queue)) queueIndex.set(job.queue, queueIndex.size + 1)
  const minutes = retryMinutes(jobs, engine.runner.redisNowMs(keys.shard))
  const callbacks = await callbackQueues(engine, keys, jobs)
  const declared = [
    ...[keys.clock, keys.executors, keys.heldJobs(executor)],
    ...SHARD_PARTS.map((part) => keys[part]),
    ...minutes.map((minute) => keys.minuteBucket(minute)),
    ...callbacks.keys,
  ]
  for (const id of queueIndex.keys()) {
    const k = keys.queue(id)
    for (const part of QUEUE_PARTS) declared.push(k[part])
  }
  const runs = jobs.filter((job) => job.run !== null)
  if (runs.length > 0)
    declared.push(keys.cronStates, ...runs.map(({ run }) => keys.cronRecords(String(run?.cronId))))
  const { retention } = engine
  const args: Argument[] = [
    engine.shards.length,
    retention.finishedChainsMs,
    retention.failedCallsMax,
    retention.successfulCallsMax,
    Math.floor(retention.callRecordsBytesMax / engine.shards.length),
    retention.finishedChainsPerCronMax + FINISHED_CHAINS_PER_CRON_SLACK,
    minutes.length,
    ...minutes,
    callbacks.args.length / 3,
    ...callbacks.args,
    queueIndex.size,
    ...[...queueIndex.keys()].flatMap((id) => [id, callbacks.indexOf.get(id) ?? 0]),
    runs.length,
    ...runs.flatMap(({ id, run }) => (run === null ? [] : [id, run.cronId, run.record, run.tickMs])),
    jobs.length,
  ]
  for (const job of jobs) {
    args.push(job.id, job.root, job.seq, queueIndex.get(job.queue) ?? 0, job.token, job.kind)
    args.push(job.settingsHash, job.isLarge ? 1 : 0, job.bytes ?? '', job.delayMs)
    args.push(job.record, job.call, job.callback?.record ?? '')
  }
  return { keys: declared, args }
}

/** The callback queues of the teams whose jobs end with one, each once. */
async function callbackQueues(
  engine: Engine,
  keys: ShardKeys,
  jobs: readonly BatchJob[],
): Promise<{ keys: string[]; args: Argument[]; indexOf: Map<string, number> }> {
  const declared: string[] = []
  const args: Argument[] = []
  const teams = new Map<string, number>()
  /** By the queue whose jobs they report. */
  const indexOf = new Map<string, number>()
  for (const { callback, queue } of jobs) {
    if (callback === null) continue
    const { team } = callback
    const index = teams.get(team) ?? teams.size + 1
    indexOf.set(queue, index)
    if (teams.has(team)) continue
    teams.set(team, index)
    const number = await engine.teamNumbers.of(keys, team)
    const id = callbackQueueOf(number)
    const { meta: q, ready: r, records: b, inFlight: a } = keys.queue(id)
    declared.push(q, r, b, a)
    args.push(team, number, id)
  }
  return { keys: declared, args, indexOf }
}

function retryMinutes(jobs: readonly BatchJob[], nowMs: number): number[] {
  const minutes = new Set<number>()
  for (const job of jobs) {
    if (job.kind !== 'r' || job.delayMs <= NEAR_DELAY_SECONDS_MAX * 1000) continue
    for (const minute of minutesAround(nowMs + job.delayMs)) minutes.add(minute)
  }
  return [...minutes]
}
