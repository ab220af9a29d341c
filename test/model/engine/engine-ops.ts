import * as fc from 'fast-check'
import type { QueueSettings } from '../../../src/domain/jobs/queue-settings.ts'
import type { NewJob, ClaimGrant } from '../../../src/ports/jobs.ts'
import { nameField } from '../../../src/redis/base/layout/keys.ts'
import { grantOf } from '../../support/engine/claim-grant.ts'
import { newJob } from '../../support/engine/engine.ts'

/** A name may be used by several teams. */
export const QUEUES = [
  { team: 'default', name: 'alpha' },
  { team: 'default', name: 'beta' },
  { team: 'default', name: 'gamma' },
  { team: 'shop', name: 'alpha' },
  { team: 'shop', name: 'delta' },
].map((queue) => ({ ...queue, field: nameField(queue.team, queue.name) }))

/** One step of a drawn story. Numbers that pick something are taken modulo what there is to pick from. */
export type Op =
  | {
      readonly op: 'push'
      readonly intake: number
      readonly jobs: readonly PushOp[]
      readonly resent: boolean
    }
  | { readonly op: 'push_again' }
  | {
      readonly op: 'claim'
      readonly executor: number
      readonly shard: number
      readonly grant: GrantOp
      readonly lost: boolean
    }
  | {
      readonly op: 'finish'
      readonly executor: number
      readonly shard: number
      readonly ends: readonly EndOp[]
      readonly lost: boolean
      readonly twice: boolean
      readonly keeps: boolean
    }
  | { readonly op: 'beat'; readonly executor: number; readonly shard: number; readonly register: boolean }
  | { readonly op: 'lapse'; readonly executor: number }
  | { readonly op: 'reap'; readonly shard: number }
  | {
      readonly op: 'give_back_unknown'
      readonly executor: number
      readonly shard: number
      readonly known: number
    }
  | { readonly op: 'leave'; readonly executor: number; readonly shard: number }
  | { readonly op: 'promote'; readonly shard: number }
  | { readonly op: 'sweep'; readonly shard: number }
  | { readonly op: 'edit'; readonly queue: number; readonly change: EditOp; readonly resent: boolean }
  | { readonly op: 'compile'; readonly queue: number; readonly change: EditOp; readonly resent: boolean }
  | { readonly op: 'lead' }
  | { readonly op: 'remove'; readonly queue: number; readonly resent: boolean }
  | { readonly op: 'cancel'; readonly pick: number }
  | {
      readonly op: 'replay' | 'retry' | 'fire' | 'duplicate'
      readonly pick: number
      readonly resent: boolean
    }
  | { readonly op: 'purge'; readonly pick: number }
  | { readonly op: 'advance'; readonly ms: number }
  | { readonly op: 'jump'; readonly ms: number }

/** What a claim may take; null = everything. */
interface GrantOp {
  readonly slots: number
  readonly bytes: number | null
  readonly room: number | null
  /** Of the team `shop`. */
  readonly shopRoom: number | null
  readonly queueRoom: number | null
  /** Of the shard's first queue. */
  readonly firstQueueRoom: number | null
}

export interface PushOp {
  readonly queue: number
  readonly delaySeconds: number | null
  /** Used when there is no delay: milliseconds from the test's clock. */
  readonly runAtOffsetMs: number
  readonly key: number | null
  readonly fingerprint: number
  readonly large: boolean
  readonly callback: 'none' | 'terminal' | 'every_attempt' | 'as_queue'
  readonly retries: 'as_queue' | 'off' | 'short'
  readonly timeoutSeconds: number | null
}
export interface EndOp {
  readonly how: 'success' | 'failure' | 'give_back'
  /** Length of the body of the call record; null = not recorded. */
  readonly call: number | null
}
export type EditOp =
  | { readonly max: number | null }
  | { readonly active: boolean }
  | {
      readonly timeout: number
      readonly delays: readonly number[]
      readonly retries: boolean
      readonly everyAttempt: boolean
    }

const bit = fc.boolean()
const rarely = fc.nat(7).map((n) => n === 7)
const executor = fc.nat(2)
const shard = fc.nat(1)
const queue = fc.nat(QUEUES.length - 1)

const room = fc.constantFrom(null, null, null, 0, 1, 3)
const grantOp: fc.Arbitrary<GrantOp> = fc.record({
  slots: fc.constantFrom(1, 3, 10, 64),
  bytes: fc.constantFrom(null, null, null, 100, 1000, 6000),
  room,
  shopRoom: room,
  queueRoom: room,
  firstQueueRoom: room,
})

const pushOp: fc.Arbitrary<PushOp> = fc.record({
  queue,
  delaySeconds: fc.constantFrom(0, 0, 0, 0, 2, 45, 61, 130, 3600, null),
  runAtOffsetMs: fc.constantFrom(-5000, 1, 61_500, 90_000_000),
  key: fc.constantFrom(null, null, null, 0, 1),
  fingerprint: fc.constantFrom(0, 0, 0, 1),
  large: rarely,
  callback: fc.constantFrom('none', 'none', 'terminal', 'every_attempt', 'as_queue'),
  retries: fc.constantFrom('as_queue', 'as_queue', 'off', 'short'),
  timeoutSeconds: fc.constantFrom(null, null, 1, 300),
})

const endOp: fc.Arbitrary<EndOp> = fc.record({
  how: fc.constantFrom('success', 'failure', 'failure', 'give_back'),
  call: fc.constantFrom(null, 10, 400),
})

const editOp: fc.Arbitrary<EditOp> = fc.oneof(
  fc.record({ max: fc.constantFrom(null, 1, 2, 3) }),
  fc.record({ active: bit }),
  fc.record({
    timeout: fc.constantFrom(1, 30),
    delays: fc.constantFrom([1], [70, 5], [1, 1, 1]),
    retries: bit,
    everyAttempt: bit,
  }),
)

/** Story steps with their weights: the way of a job is drawn more often than what disturbs it. */
const weighted: Array<readonly [number, fc.Arbitrary<Op>]> = [
  [
    8,
    fc.record({
      op: fc.constant('push'),
      intake: bitNumber(),
      jobs: fc.array(pushOp, { minLength: 1, maxLength: 6 }),
      resent: rarely,
    }),
  ],
  [1, fc.record({ op: fc.constant('push_again') })],
  [
    10,
    fc.record({
      op: fc.constant('claim'),
      executor,
      shard,
      grant: grantOp,
      lost: rarely,
    }),
  ],
  [
    9,
    fc.record({
      op: fc.constant('finish'),
      executor,
      shard,
      ends: fc.array(endOp, { minLength: 1, maxLength: 5 }),
      lost: rarely,
      twice: rarely,
      keeps: rarely,
    }),
  ],
  [3, fc.record({ op: fc.constant('beat'), executor, shard, register: bit })],
  [2, fc.record({ op: fc.constant('lapse'), executor })],
  [3, fc.record({ op: fc.constant('reap'), shard })],
  [1, fc.record({ op: fc.constant('give_back_unknown'), executor, shard, known: fc.nat(3) })],
  [1, fc.record({ op: fc.constant('leave'), executor, shard })],
  [4, fc.record({ op: fc.constant('promote'), shard })],
  [2, fc.record({ op: fc.constant('sweep'), shard })],
  [4, fc.record({ op: fc.constant('edit'), queue, change: editOp, resent: rarely })],
  [2, fc.record({ op: fc.constant('compile'), queue, change: editOp, resent: rarely })],
  [1, fc.record({ op: fc.constant('lead') })],
  [1, fc.record({ op: fc.constant('remove'), queue, resent: rarely })],
  [2, fc.record({ op: fc.constant('cancel'), pick: fc.nat(50) })],
  [2, fc.record({ op: fc.constant('replay'), pick: fc.nat(20), resent: rarely })],
  [2, fc.record({ op: fc.constant('retry'), pick: fc.nat(20), resent: rarely })],
  [2, fc.record({ op: fc.constant('fire'), pick: fc.nat(50), resent: rarely })],
  [1, fc.record({ op: fc.constant('duplicate'), pick: fc.nat(50), resent: rarely })],
  [1, fc.record({ op: fc.constant('purge'), pick: fc.nat(20) })],
  [
    4,
    fc.record({
      op: fc.constant('advance'),
      ms: fc.constantFrom(1, 500, 3000, 8000, 8000, 61_000, 3_600_000, 90_000_000, 260_000_000),
    }),
  ],
  [
    1,
    fc.record({
      op: fc.constant('jump'),
      ms: fc.constantFrom(3000, -3000, 8000, -8000, 3_600_000, -3_600_000),
    }),
  ],
]

function bitNumber(): fc.Arbitrary<number> {
  return fc.nat(1)
}

export function story(length: number): fc.Arbitrary<Op[]> {
  const step = fc.oneof(...weighted.map(([weight, arbitrary]) => ({ weight, arbitrary })))
  return fc.array(step, { minLength: 1, maxLength: length, size: 'max' })
}

export function queueAt(pick: number) {
  return QUEUES[pick] as (typeof QUEUES)[number]
}

/** The job that a drawn push sends. */
export function toJob(op: PushOp, nowMs: number): NewJob {
  return newJob({
    team: queueAt(op.queue).team,
    queue: queueAt(op.queue).name,
    start:
      op.delaySeconds === null ? { runAtMs: nowMs + op.runAtOffsetMs } : { delaySeconds: op.delaySeconds },
    idempotency: op.key === null ? null : { key: `key ${op.key}`, fingerprint: `f${op.fingerprint}` },
    request: {
      payload: op.large ? JSON.stringify('x'.repeat(5000)) : null,
      callbackUrl: op.callback === 'none' ? null : 'http://target.test/callback',
      callbackEvents: op.callback === 'none' || op.callback === 'as_queue' ? null : op.callback,
      retriesEnabled: op.retries === 'off' ? false : null,
      retryDelays: op.retries === 'short' ? [1] : null,
      timeoutSeconds: op.timeoutSeconds,
    },
  })
}

/** What a drawn claim may take. @param firstQueue local id of the shard's first queue */
export function toGrant(op: GrantOp, firstQueue: string | undefined): ClaimGrant {
  const everything = grantOf(op.slots)
  const isFirstListed = op.firstQueueRoom !== null && firstQueue !== undefined
  return {
    ...everything,
    bytes: op.bytes ?? everything.bytes,
    otherTeamsHeadroom: op.room ?? everything.otherTeamsHeadroom,
    teamHeadroom: op.shopRoom === null ? new Map() : new Map([['shop', op.shopRoom]]),
    otherQueuesHeadroom: op.queueRoom ?? everything.otherQueuesHeadroom,
    queueHeadroom: isFirstListed ? new Map([[firstQueue, op.firstQueueRoom]]) : new Map(),
  }
}

/** The settings after a drawn edit. */
export function edited(settings: QueueSettings, change: EditOp): QueueSettings {
  if ('max' in change) return { ...settings, maxParallelism: change.max }
  if ('active' in change) return { ...settings, isActive: change.active }
  return {
    ...settings,
    timeoutSeconds: change.timeout,
    retryDelays: change.delays,
    retriesEnabled: change.retries,
    callbackEvents: change.everyAttempt ? 'every_attempt' : 'terminal',
    dlqRetentionDays: 3,
  }
}
