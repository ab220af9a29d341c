import {
  IDEMPOTENCY_KEYS_PER_SHARD_DAY_MAX,
  LEASE_MS,
  NEAR_DELAY_SECONDS_MAX,
} from '../../../domain/limits.ts'
import { DEFAULT_QUEUE_SETTINGS } from '../../../domain/jobs/queue-settings.ts'
import type { AuditEntry } from '../../../domain/access/audit-record.ts'
import type { NewJob } from '../../../ports/jobs.ts'
import { audited } from '../../ledger/audit-log/audit-entry.ts'
import { BOUND_ARGS, CEILING_ROW, packCeilings } from '../../ledger/quotas/ceiling-rows.ts'
import type { Engine } from '../../base/engine/engine.ts'
import { type EncodedRequest } from '../../base/layout/job-record.ts'
import { encodeSettings } from '../../base/layout/queue-record.ts'
import { indexPlace, minutesAround, queueIdOf, type ShardKeys } from '../../base/layout/keys.ts'
import type { ShardCeilings } from '../../ledger/quotas/quota-keeper.ts'
import { storedDueMs } from './ended-pushes.ts'
import type { LostSteps } from '../losses/accepted-steps.ts'
import { INTAKE_MARK_SECONDS } from '../losses/tell-loss.ts'
import { CLOCK } from '../../base/layout/fields.ts'
import { step, type StepCall } from '../../base/engine/step.ts'

export const ENQUEUE = step('enqueue', import.meta.url, {
  keys: [
    'clock',
    'executors',
    'queueIds',
    'nearSet',
    'minutes',
    'ring',
    'teams',
    'teamNumbers',
    'settings',
    'settingsUses',
    'pushedBuckets',
    'teamUsage',
    'intakeMark',
    'jobBlock',
  ],
  args: [
    'leaseMs',
    'nonce',
    'stepNumber',
    'answered',
    'markSeconds',
    'idempotencyKeysMax',
    'newHash',
    'newTimeout',
    'newJson',
    ...BOUND_ARGS,
    'plan',
    'numbers',
  ],
  rows: {
    blocks: { keys: ['jobIndex'], args: ['block'] },
    days: { keys: ['idempotencyKeys'], args: ['day'] },
    minutes: { keys: ['bucket'], args: ['minute'] },
    teams: CEILING_ROW,
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
/** Stands for the due time of a job that has ended, in the answer of the step. */
const ENDED = -1
/** A batch is tried at most this many times when our estimate of Redis's day was wrong. */
const DAY_TRIES_MAX = 3

/** A new job without its request. */
export interface JobHead extends Omit<NewJob, 'request' | 'duplicate'> {
  /** null = the queue's own timeout. */
  readonly timeoutSeconds: number | null
  readonly duplicate: NewJob['duplicate']
}

export interface PendingPush {
  readonly head: JobHead
  /** The text `team/name`. */
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
  /** The time of the step. */
  readonly atMs: number
  /** Earlier steps of the intake that were answered and are not there; null = none. */
  readonly lost: LostSteps | null
  readonly woken: number
  readonly outcomes: readonly EnqueueOutcome[]
}

interface EnqueueBatch {
  readonly pushes: readonly PendingPush[]
  readonly localIds: ReadonlyMap<string, string>
  readonly nonce: string
  readonly stepNumber: number
  /** The highest step that the intake was answered; 0 = none. */
  readonly answered: number
  /** How far the counters of its teams may go; null = without bound. */
  readonly ceilings: ShardCeilings | null
  readonly resendForMs: number
}

/** Sends one `enqueue` step. Answers one outcome for each push, in order. */
export async function enqueueBatch(
  engine: Engine,
  keys: ShardKeys,
  batch: EnqueueBatch,
): Promise<EnqueueAnswer> {
  const beganMs = engine.runner.redisNowMs(keys.shard)
  for (let tries = 0; tries < DAY_TRIES_MAX; tries += 1) {
    const reply = await engine.runner.run(enqueueCall(engine, keys, batch), batch.resendForMs)
    if (reply === 'day') {
      await learnTime(engine, keys)
      continue
    }
    const answer = readReply(engine, keys, batch, splitReply(reply as string))
    return withStoredDues(engine, keys, { ...batch, beganMs }, answer)
  }
  throw new Error('the day of Redis changes faster than it can be read')
}

async function learnTime(engine: Engine, keys: ShardKeys): Promise<void> {
  const seen = await engine.runner.read((redis) => redis.hget(keys.clock, CLOCK.lastTime))
  if (seen !== null) engine.runner.noteRedisTime(keys.shard, Number(seen))
}

interface SplitReply {
  readonly lost: LostSteps | null
  readonly reply: readonly string[]
}

function splitReply(text: string): SplitReply {
  const words = text.split(' ')
  if (words[0] !== 'lost') return { lost: null, reply: words }
  return { lost: { from: Number(words[1]), to: Number(words[2]) }, reply: words.slice(3) }
}

function readReply(
  engine: Engine,
  keys: ShardKeys,
  batch: EnqueueBatch,
  { lost, reply }: SplitReply,
): EnqueueAnswer {
  const nowMs = Number(reply[0])
  engine.runner.noteRedisTime(keys.shard, nowMs)
  const outcomes: EnqueueOutcome[] = []
  let queue = { field: '', id: 0 }
  for (let at = 2; at < reply.length; at += 4) {
    const code = reply[at + 1] as EnqueueOutcome['code']
    const dueMs = Number(reply[at + 3])
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
  return { atMs: nowMs, lost, woken: Number(reply[1]), outcomes }
}

/** Answers a resent push whose job has ended meanwhile as it would have been answered at first. */
async function withStoredDues(
  engine: Engine,
  keys: ShardKeys,
  { pushes, localIds, resendForMs, beganMs }: EnqueueBatch & { readonly beganMs: number },
  answer: EnqueueAnswer,
): Promise<EnqueueAnswer> {
  const isEnded = ({ code, dueMs }: EnqueueOutcome) => code === 'again' && dueMs === ENDED
  if (!answer.outcomes.some(isEnded)) return answer
  const readAnewForMs = resendForMs - (engine.runner.redisNowMs(keys.shard) - beganMs)
  const outcomes = answer.outcomes.map(async (outcome, i) => {
    const push = pushes[i]
    if (push === undefined || !isEnded(outcome)) return outcome
    const ended = { keys, localId: localIds.get(push.field) ?? '0', seq: push.seq ?? 0 }
    const storedMs = await storedDueMs(engine, { ...ended, readAnewForMs })
    // A job that begins before the time that its push was told would have begun too early.
    return { ...outcome, dueMs: storedMs ?? dueFrom(push.head.start, beganMs) }
  })
  return { ...answer, outcomes: await Promise.all(outcomes) }
}

/** Numbers each thing that a batch names once, in the order of first use. */
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

/** The keys that the jobs of a batch need declared, and the jobs themselves in the step's words. */
interface NamedBatch {
  readonly blocks: Positions<number>
  readonly queues: Positions<string>
  readonly teams: Positions<string>
  readonly minutes: ReadonlySet<number>
  /** All jobs in one text, because every argument costs the client, the wire and the script more than its bytes. */
  readonly plan: string
  readonly numbers: string
  readonly requests: readonly string[]
}

/** Similar jobs that follow each other in one block. */
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

/** When a job is due whose push is taken at a time. */
function dueFrom(start: NewJob['start'], nowMs: number): number {
  return 'delaySeconds' in start ? nowMs + start.delaySeconds * 1000 : Math.max(nowMs, start.runAtMs)
}

/**
 * Answers the minute buckets that such a job may go to, or none when it is due so soon that it goes straight to the
 * near set.
 */
function minutesOf({ start }: JobHead, nowMs: number): number[] {
  const dueMs = dueFrom(start, nowMs)
  return dueMs - nowMs > NEAR_DELAY_SECONDS_MAX * 1000 ? minutesAround(dueMs) : []
}

function enqueueCall(engine: Engine, keys: ShardKeys, batch: EnqueueBatch): StepCall {
  const nowMs = engine.runner.redisNowMs(keys.shard)
  const { blocks, queues, teams, minutes, plan, numbers, requests } = nameBatch(
    { engine, keys, batch },
    nowMs,
  )
  const isKeyed = batch.pushes.some(({ head }) => head.idempotency !== null)
  return ENQUEUE.with({
    keys,
    leaseMs: LEASE_MS,
    nonce: batch.nonce,
    intakeMark: keys.intakeMark(batch.nonce),
    stepNumber: batch.stepNumber,
    answered: batch.answered,
    markSeconds: INTAKE_MARK_SECONDS,
    ...NEW_QUEUE,
    idempotencyKeysMax: IDEMPOTENCY_KEYS_PER_SHARD_DAY_MAX,
    ...packCeilings(batch.ceilings, teams.keys, nowMs),
    plan,
    numbers,
    requests,
    blocks: blocks.keys.map((block) => ({ block, jobIndex: keys.jobIndex(block) })),
    days: (isKeyed ? daysAround(nowMs) : []).map((day) => ({
      day,
      idempotencyKeys: keys.idempotencyKeys(day),
    })),
    minutes: Array.from(minutes, (minute) => ({ minute, bucket: keys.minuteBucket(minute) })),
    queues: queues.keys.map((field) => {
      const localId = batch.localIds.get(field) ?? ''
      const teamIndex = teams.of(field.slice(0, field.indexOf('/')))
      return { field, localId, teamIndex, pushedBucket: keys.pushedBucket(localId) }
    }),
    audits: batch.pushes.flatMap((push, i) => auditOf(engine, keys, { push, position: i + 1 })),
  })
}

/** Makes the entry of the audit log for a job that somebody made as a duplicate. */
export function duplicateEntry(
  { of, actor, changed }: NonNullable<NewJob['duplicate']>,
  queue: string,
  newJobId: number,
): AuditEntry {
  const after = { job_id: newJobId, ...(changed.length === 0 ? {} : { changed }) }
  return { actor, action: 'duplicate', resource: { kind: 'job', id: of, name: queue }, before: null, after }
}

/** Only a job that somebody made as a duplicate is audited; pushes are not. */
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

/** Answers Redis's day and the day before, correct even if our estimate of its time is a minute wrong. */
function daysAround(nowMs: number): number[] {
  const first = Math.floor((nowMs - 60_000) / DAY_MS) - 1
  const last = Math.floor((nowMs + 60_000) / DAY_MS)
  return Array.from({ length: last - first + 1 }, (_, i) => last - i)
}

const { hash, json } = encodeSettings(DEFAULT_QUEUE_SETTINGS)
/** The settings of a queue that a push makes. They are encoded once because every batch carries them. */
const NEW_QUEUE = { newHash: hash, newTimeout: DEFAULT_QUEUE_SETTINGS.timeoutSeconds, newJson: json }
