import { IDEMPOTENCY_KEYS_PER_SHARD_DAY_MAX, LEASE_MS, NEAR_DELAY_SECONDS_MAX } from '../../domain/limits.ts'
import { DEFAULT_QUEUE_SETTINGS, type QueueSettings } from '../../domain/jobs/queue-settings.ts'
import { monthOf } from '../../domain/quotas.ts'
import type { NewJob } from '../../ports/jobs.ts'
import { minutesAround } from '../execute/finish/batch.ts'
import { NO_CEILINGS, type TeamCeilings } from '../quotas/ceilings.ts'
import type { Engine } from '../client/engine.ts'
import { encodeSettings, type EncodedRequest } from '../layout/job-record.ts'
import { indexPlace, queueIdOf, type ShardKeys } from '../layout/keys.ts'
import type { ShardCeilings } from '../quotas/quota-keeper.ts'
import type { Argument } from '../client/step.ts'

const DAY_MS = 86_400_000
/** The day of Redis's TIME is declared even if our estimate of it is this far off. */
const DAY_TRIES_MAX = 3

export interface PendingPush {
  readonly job: NewJob
  /** `team/name` */
  readonly field: string
  readonly request: EncodedRequest
  seq: number | null
}

export interface EnqueueOutcome {
  readonly code:
    | 'ok'
    | 'again'
    | 'dup'
    | 'conflict'
    | 'full'
    | 'moved'
    | 'taken'
    | 'room'
    | 'pendingJobs'
    | 'storedBytes'
    | 'share'
    | 'jobsPerMonth'
  readonly jobId: number
  readonly queueId: number
  readonly dueMs: number
}

export interface EnqueueAnswer {
  readonly woken: number
  readonly outcomes: readonly EnqueueOutcome[]
}

interface EnqueueBatch {
  readonly pushes: readonly PendingPush[]
  readonly localIds: ReadonlyMap<string, string>
  readonly nonce: string
  /** Up to where the counters of its teams may go; null = no bound. */
  readonly ceilings: ShardCeilings | null
  readonly resendForMs: number
}

/** Sends one `enqueue` step; answers one outcome a push, in order. */
export async function enqueueBatch(
  engine: Engine,
  keys: ShardKeys,
  batch: EnqueueBatch,
): Promise<EnqueueAnswer> {
  for (let tries = 0; tries < DAY_TRIES_MAX; tries += 1) {
    const step = buildStep(engine, keys, batch)
    const reply = await engine.runner.run(
      { name: 'enqueue', keys: step.keys, args: step.args },
      batch.resendForMs,
    )
    if (reply === 'day') {
      await learnTime(engine, keys)
      continue
    }
    return readReply(engine, keys, batch, (reply as string).split(' '))
  }
  throw new Error('the day of Redis changes faster than it can be read')
}

async function learnTime(engine: Engine, keys: ShardKeys): Promise<void> {
  const seen = await engine.runner.read((redis) => redis.hget(keys.clock, 't'))
  if (seen !== null) engine.runner.noteRedisTime(keys.shard, Number(seen))
}

function readReply(
  engine: Engine,
  keys: ShardKeys,
  batch: EnqueueBatch,
  reply: readonly string[],
): EnqueueAnswer {
  engine.runner.noteRedisTime(keys.shard, Number(reply[0]))
  const outcomes = batch.pushes.map((push, i): EnqueueOutcome => {
    const at = 2 + i * 3
    const code = reply[at] as EnqueueOutcome['code']
    const due = reply[at + 2]
    const isEnded = code === 'again' && due === '-1'
    return {
      code,
      jobId: Number(reply[at + 1]),
      queueId: queueIdOf(batch.localIds.get(push.field) ?? '0', keys.shard, engine.shards.length),
      // A resent push whose job has ended within the resend was due by now.
      dueMs: isEnded ? Number(reply[0]) : Number(due),
    }
  })
  return { woken: Number(reply[1]), outcomes }
}

/** Numbers what a batch names, each once, in the order of first use. */
export class Positions<Key> {
  readonly #positions = new Map<Key, number>()
  of(key: Key): number {
    const known = this.#positions.get(key)
    if (known !== undefined) return known
    const position = this.#positions.size + 1
    this.#positions.set(key, position)
    return position
  }
  get keys(): Key[] {
    return [...this.#positions.keys()]
  }
}

/** What the jobs of a batch need declared, and the jobs themselves in the step's words. */
interface NamedBatch {
  readonly blocks: Positions<number>
  readonly queues: Positions<string>
  readonly teams: Positions<string>
  readonly minutes: ReadonlySet<number>
  /** Of all jobs in one text: every argument costs the client, the wire and the script more than its bytes. */
  readonly plan: string
  readonly requests: readonly string[]
}

function nameBatch(batch: EnqueueBatch, nowMs: number): NamedBatch {
  const blocks = new Positions<number>()
  const queues = new Positions<string>()
  const teams = new Positions<string>()
  const minutes = new Set<number>()
  const requests: string[] = []
  let plan = ''
  for (const { job, field, request, seq } of batch.pushes) {
    for (const minute of minutesOf(job, nowMs)) minutes.add(minute)
    teams.of(job.team)
    const { block, field: place } = indexPlace(seq ?? 0)
    const start = 'delaySeconds' in job.start ? `d${job.start.delaySeconds * 1000}` : `a${job.start.runAtMs}`
    plan += `${queues.of(field)} ${blocks.of(block)} ${place} ${start} ${job.request.timeoutSeconds ?? ''} `
    requests.push(request.inline)
    if (request.large !== '') {
      plan += 'l'
      requests.push(request.large)
    }
    if (job.idempotency !== null) {
      plan += 'i'
      requests.push(`${batch.localIds.get(field)}:${job.idempotency.key}`, job.idempotency.fingerprint)
    }
    plan += ';'
  }
  return { blocks, queues, teams, minutes, plan, requests }
}

/** The minute buckets this job may go to; none when it is due so soon that it goes straight to the near set. */
function minutesOf({ start }: NewJob, nowMs: number): number[] {
  const dueMs = 'delaySeconds' in start ? nowMs + start.delaySeconds * 1000 : start.runAtMs
  return dueMs - nowMs > NEAR_DELAY_SECONDS_MAX * 1000 ? minutesAround(dueMs) : []
}

function buildStep(
  engine: Engine,
  keys: ShardKeys,
  batch: EnqueueBatch,
): { keys: string[]; args: Argument[] } {
  const nowMs = engine.runner.redisNowMs(keys.shard)
  const { blocks, queues, teams, minutes, plan, requests } = nameBatch(batch, nowMs)
  const hasIdempotency = batch.pushes.some(({ job }) => job.idempotency !== null)
  const days = hasIdempotency ? daysAround(nowMs) : []
  const fields = queues.keys
  return {
    keys: [
      ...[
        keys.clock,
        keys.executors,
        keys.queueIds,
        keys.nearSet,
        keys.minutes,
        keys.ring,
        keys.settings,
        keys.settingsUses,
        keys.pushedBuckets,
      ],
      ...[keys.teamUsage, keys.teams, keys.teamNumbers],
      ...blocks.keys.map((block) => keys.jobIndex(block)),
      ...days.map((day) => keys.idempotencyKeys(day)),
      ...[...minutes].map((minute) => keys.minuteBucket(minute)),
      ...fields.flatMap((field) => {
        const localId = batch.localIds.get(field) ?? ''
        const { meta: q, ready: r, records: b, payloads: p, inFlight: a } = keys.queue(localId)
        return [q, r, b, p, a, keys.pushedBucket(localId)]
      }),
    ],
    args: [
      ...[LEASE_MS, engine.shards.length, keys.shard, batch.nonce, IDEMPOTENCY_KEYS_PER_SHARD_DAY_MAX],
      ...[blocks.keys.length, ...blocks.keys, days.length, ...days, minutes.size, ...minutes],
      ...NEW_QUEUE,
      ...boundArguments(batch.ceilings, nowMs),
      teams.keys.length,
      ...teams.keys.flatMap((team) => [team, ...ceilingArguments(batch.ceilings?.of(team) ?? NO_CEILINGS)]),
      fields.length,
      ...fields.flatMap((field) => [
        field,
        batch.localIds.get(field) ?? '',
        teams.of(field.slice(0, field.indexOf('/'))),
      ]),
      plan,
      ...requests,
    ],
  }
}

/** What bounds all teams, as lib/quota.lua reads it. */
export function boundArguments(ceilings: ShardCeilings | null, nowMs: number): Argument[] {
  const { month, nextStartsMs } = ceilings?.month ?? monthOf(nowMs)
  return [month, nextStartsMs, ceilings?.memory ?? '']
}

/** What bounds one team. */
export function ceilingArguments({ jobs, bytes, monthJobs, isShare }: TeamCeilings): Argument[] {
  return [jobs ?? '', bytes ?? '', monthJobs ?? '', isShare ? 1 : 0]
}

/** Redis's day and the day before; near midnight also the day after, should our estimate be behind. */
function daysAround(nowMs: number): number[] {
  const today = Math.floor(nowMs / DAY_MS)
  const tomorrow = Math.floor((nowMs + 60_000) / DAY_MS)
  return tomorrow === today ? [today, today - 1] : [tomorrow, today, today - 1]
}

/** What a step writes into a queue that it makes. Such a queue is active and has no limit. */
export function newQueueArguments(settings: QueueSettings): Argument[] {
  const { hash, json } = encodeSettings(settings)
  return [hash, settings.timeoutSeconds, json]
}

/** Encoded once, as every batch carries it. */
const NEW_QUEUE = newQueueArguments(DEFAULT_QUEUE_SETTINGS)
