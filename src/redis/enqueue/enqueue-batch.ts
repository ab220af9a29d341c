import { IDEMPOTENCY_KEYS_PER_SHARD_DAY_MAX, LEASE_MS, NEAR_DELAY_SECONDS_MAX } from '../../domain/limits.ts'
import { DEFAULT_QUEUE_SETTINGS } from '../../domain/jobs/queue-settings.ts'
import { monthOf } from '../../domain/quotas.ts'
import type { AuditEntry } from '../../domain/access/audit-record.ts'
import type { NewJob } from '../../ports/jobs.ts'
import { audited } from '../audit-log/audit-entry.ts'
import { minutesAround } from '../execute/finish/batch.ts'
import { NO_CEILINGS } from '../quotas/ceilings.ts'
import type { Engine } from '../client/engine.ts'
import { encodeSettings, type EncodedRequest } from '../layout/job-record.ts'
import { indexPlace, queueIdOf, type ShardKeys } from '../layout/keys.ts'
import type { ShardCeilings } from '../quotas/quota-keeper.ts'
import { CLOCK } from '../layout/fields.ts'
import { step, type StepCall } from '../client/step.ts'

export const ENQUEUE = step('enqueue', import.meta.url, {
  keys: [
    ...(['clock', 'executors', 'queueIds', 'nearSet', 'minutes', 'ring', 'teams', 'teamNumbers'] as const),
    ...(['settings', 'settingsUses', 'pushedBuckets', 'teamUsage'] as const),
  ],
  args: [
    ...(['leaseMs', 'nonce', 'idempotencyKeysMax', 'newHash', 'newTimeout'] as const),
    ...(['newJson', 'month', 'monthEndsMs', 'allBytesMax', 'plan', 'numbers'] as const),
  ],
  rows: {
    blocks: { keys: ['jobIndex'], args: ['block'] },
    days: { keys: ['idempotencyKeys'], args: ['day'] },
    minutes: { keys: ['bucket'], args: ['minute'] },
    teams: { args: ['team', 'jobsMax', 'bytesMax', 'monthMax', 'isShare'] },
    queues: {
      keys: ['pushedBucket'],
      queueKeys: ['meta', 'ready', 'records', 'payloads', 'inFlight'],
      args: ['field', 'localId', 'teamIndex'],
    },
    audits: { keys: ['auditLog', 'auditCounts'], args: ['position', 'entry', 'most', 'keptMs'] },
  },
  rest: 'requests',
})

const DAY_MS = 86_400_000
/** Tries after our estimate of Redis's day was wrong. */
const DAY_TRIES_MAX = 3

/** A new job without its request. */
export interface JobHead extends Omit<NewJob, 'request' | 'duplicate'> {
  /** null = the queue's. */
  readonly timeoutSeconds: number | null
  readonly duplicate: NewJob['duplicate']
}

export interface PendingPush {
  readonly head: JobHead
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
    | 'draining'
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

/** Sends one `enqueue` step. Answers one outcome for each push, in order. */
export async function enqueueBatch(
  engine: Engine,
  keys: ShardKeys,
  batch: EnqueueBatch,
): Promise<EnqueueAnswer> {
  for (let tries = 0; tries < DAY_TRIES_MAX; tries += 1) {
    const reply = await engine.runner.run(enqueueCall(engine, keys, batch), batch.resendForMs)
    if (reply === 'day') {
      await learnTime(engine, keys)
      continue
    }
    return readReply(engine, keys, batch, (reply as string).split(' '))
  }
  throw new Error('the day of Redis changes faster than it can be read')
}

async function learnTime(engine: Engine, keys: ShardKeys): Promise<void> {
  const seen = await engine.runner.read((redis) => redis.hget(keys.clock, CLOCK.lastTime))
  if (seen !== null) engine.runner.noteRedisTime(keys.shard, Number(seen))
}

function readReply(
  engine: Engine,
  keys: ShardKeys,
  batch: EnqueueBatch,
  reply: readonly string[],
): EnqueueAnswer {
  const nowMs = Number(reply[0])
  engine.runner.noteRedisTime(keys.shard, nowMs)
  const outcomes: EnqueueOutcome[] = []
  let queue = { field: '', id: 0 }
  for (let at = 2; at < reply.length; at += 4) {
    const code = reply[at + 1] as EnqueueOutcome['code']
    // A resent push whose job has ended within the resend was due by now.
    const dueMs = code === 'again' && reply[at + 3] === '-1' ? nowMs : Number(reply[at + 3])
    const jobs = Number(reply[at])
    for (let i = 0; i < jobs; i += 1) {
      const push = batch.pushes[outcomes.length]
      if (push === undefined) throw new Error('enqueue answered more jobs than it was sent')
      if (push.field !== queue.field) {
        const localId = batch.localIds.get(push.field) ?? '0'
        queue = { field: push.field, id: queueIdOf(localId, keys.shard, engine.shards.length) }
      }
      const jobId = code === 'dup' ? Number(reply[at + 2]) : engine.jobIds.idOf(keys.shard, push.seq ?? 0, 1)
      outcomes.push({ code, jobId, queueId: queue.id, dueMs })
    }
  }
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

interface Sending {
  readonly engine: Engine
  readonly keys: ShardKeys
  readonly batch: EnqueueBatch
}

/** What the jobs of a batch need declared, and the jobs themselves in the step's words. */
interface NamedBatch {
  readonly blocks: Positions<number>
  readonly queues: Positions<string>
  readonly teams: Positions<string>
  readonly minutes: ReadonlySet<number>
  /** Of all jobs in one text: every argument costs the client, the wire and the script more than its bytes. */
  readonly plan: string
  readonly numbers: string
  readonly requests: readonly string[]
}

/** Jobs alike in one block. */
interface Stretch {
  readonly push: PendingPush
  readonly block: number
  readonly marks: string
  jobs: number
}

function nameBatch({ engine, keys, batch }: Sending, nowMs: number): NamedBatch {
  const blocks = new Positions<number>()
  const queues = new Positions<string>()
  const teams = new Positions<string>()
  const minutes = new Set<number>()
  const requests: string[] = []
  let plan = ''
  let numbers = ''
  let stretch: Stretch | null = null
  const write = ({ push: { head, field }, block, marks, jobs }: Stretch): void => {
    for (const minute of minutesOf(head, nowMs)) minutes.add(minute)
    teams.of(head.team)
    const { start } = head
    const startText = 'delaySeconds' in start ? `d${start.delaySeconds * 1000}` : `a${start.runAtMs}`
    plan += `${queues.of(field)} ${blocks.of(block)} ${jobs} ${startText} ${head.timeoutSeconds ?? ''} ${marks};`
  }
  for (const push of batch.pushes) {
    const { head, field, request } = push
    const seq = push.seq ?? 0
    const { block, field: place } = indexPlace(seq)
    const marks = (request.large === '' ? '' : 'l') + (head.idempotency === null ? '' : 'i')
    if (
      stretch !== null &&
      block === stretch.block &&
      marks === stretch.marks &&
      areAlike(push, stretch.push)
    ) {
      stretch.jobs += 1
    } else {
      if (stretch !== null) write(stretch)
      stretch = { push, block, marks, jobs: 1 }
    }
    numbers += `${place} ${engine.jobIds.idOf(keys.shard, seq, 1)} `
    requests.push(request.inline)
    if (request.large !== '') requests.push(request.large)
    if (head.idempotency !== null) {
      requests.push(`${batch.localIds.get(field)}:${head.idempotency.key}`, head.idempotency.fingerprint)
    }
  }
  if (stretch !== null) write(stretch)
  return { blocks, queues, teams, minutes, plan, numbers, requests }
}

function areAlike({ head, field }: PendingPush, other: PendingPush): boolean {
  return (
    field === other.field &&
    head.timeoutSeconds === other.head.timeoutSeconds &&
    startsAlike(head.start, other.head.start)
  )
}

function startsAlike(left: JobHead['start'], right: JobHead['start']): boolean {
  return 'delaySeconds' in left
    ? 'delaySeconds' in right && left.delaySeconds === right.delaySeconds
    : 'runAtMs' in right && left.runAtMs === right.runAtMs
}

/** The minute buckets such a job may go to; none when it is due so soon that it goes straight to the near set. */
function minutesOf({ start }: JobHead, nowMs: number): number[] {
  const dueMs = 'delaySeconds' in start ? nowMs + start.delaySeconds * 1000 : start.runAtMs
  return dueMs - nowMs > NEAR_DELAY_SECONDS_MAX * 1000 ? minutesAround(dueMs) : []
}

function enqueueCall(engine: Engine, keys: ShardKeys, batch: EnqueueBatch): StepCall {
  const nowMs = engine.runner.redisNowMs(keys.shard)
  const { blocks, queues, teams, minutes, plan, numbers, requests } = nameBatch(
    { engine, keys, batch },
    nowMs,
  )
  const isKeyed = batch.pushes.some(({ head }) => head.idempotency !== null)
  const { month, nextStartsMs } = batch.ceilings?.month ?? monthOf(nowMs)
  return ENQUEUE.with({
    ...{ keys, leaseMs: LEASE_MS, nonce: batch.nonce },
    ...NEW_QUEUE,
    idempotencyKeysMax: IDEMPOTENCY_KEYS_PER_SHARD_DAY_MAX,
    ...{ month, monthEndsMs: nextStartsMs, allBytesMax: batch.ceilings?.memory ?? '' },
    ...{ plan, numbers, requests },
    blocks: blocks.keys.map((block) => ({ block, jobIndex: keys.jobIndex(block) })),
    days: (isKeyed ? daysAround(nowMs) : []).map((day) => ({
      day,
      idempotencyKeys: keys.idempotencyKeys(day),
    })),
    minutes: Array.from(minutes, (minute) => ({ minute, bucket: keys.minuteBucket(minute) })),
    teams: teams.keys.map((team) => {
      const { jobs, bytes, monthJobs, isShare } = batch.ceilings?.of(team) ?? NO_CEILINGS
      const ceilings = { jobsMax: jobs ?? '', bytesMax: bytes ?? '', monthMax: monthJobs ?? '' }
      return { team, ...ceilings, isShare: isShare ? 1 : 0 }
    }),
    queues: queues.keys.map((field) => {
      const localId = batch.localIds.get(field) ?? ''
      const teamIndex = teams.of(field.slice(0, field.indexOf('/')))
      return { field, localId, teamIndex, pushedBucket: keys.pushedBucket(localId) }
    }),
    audits: batch.pushes.flatMap((push, i) => auditOf(engine, keys, { push, position: i + 1 })),
  })
}

/** What the audit log keeps of a job that somebody made as a duplicate. */
export function duplicateEntry(
  { of, actor, changed }: NonNullable<NewJob['duplicate']>,
  queue: string,
  newJobId: number,
): AuditEntry {
  const after = { job_id: newJobId, ...(changed.length === 0 ? {} : { changed }) }
  return { actor, action: 'duplicate', resource: { kind: 'job', id: of, name: queue }, before: null, after }
}

/** Of a job that somebody made as a duplicate; pushes are not audited. */
function auditOf(
  engine: Engine,
  keys: ShardKeys,
  { push: { head, seq }, position }: { readonly push: PendingPush; readonly position: number },
) {
  if (head.duplicate === undefined) return []
  const entry = duplicateEntry(head.duplicate, head.queue, engine.jobIds.idOf(keys.shard, seq ?? 0, 1))
  const { auditLog, auditCounts, auditEntry, auditMax, auditMs } = audited(engine, keys, {
    team: head.team,
    entry,
  })
  return [{ auditLog, auditCounts, position, entry: auditEntry, most: auditMax, keptMs: auditMs }]
}

/** Redis's day and the day before, also where our estimate of its time is a minute wrong. */
function daysAround(nowMs: number): number[] {
  const first = Math.floor((nowMs - 60_000) / DAY_MS) - 1
  const last = Math.floor((nowMs + 60_000) / DAY_MS)
  return Array.from({ length: last - first + 1 }, (_, i) => last - i)
}

const { hash, json } = encodeSettings(DEFAULT_QUEUE_SETTINGS)
/** The settings of a queue that a push makes, encoded once because every batch carries them. */
const NEW_QUEUE = { newHash: hash, newTimeout: DEFAULT_QUEUE_SETTINGS.timeoutSeconds, newJson: json }
