import * as fc from 'fast-check'
import { QUEUES, type Op, type PushOp } from './engine-ops.ts'

const executor = fc.nat(2)
const shard = fc.nat(1)
const queue = fc.nat(QUEUES.length - 1)

const pushOp: fc.Arbitrary<PushOp> = fc.record({
  queue,
  delaySeconds: fc.constantFrom(0, 0, 0, 2),
  runAtOffsetMs: fc.constant(1),
  key: fc.constant(null),
  fingerprint: fc.constant(0),
  large: fc.constant(false),
  callback: fc.constantFrom('none', 'none', 'terminal'),
  retries: fc.constantFrom('off', 'short'),
  timeoutSeconds: fc.constant(300),
})

/** A few steps that belong together. */
const scenes: Array<readonly [number, fc.Arbitrary<Op[]>]> = [
  [
    6,
    fc
      .array(pushOp, { minLength: 1, maxLength: 6 })
      .map((jobs) => [{ op: 'push', intake: 0, jobs, resent: false }]),
  ],
  [
    6,
    fc.record({ executor, shard, slots: fc.constantFrom(1, 2, 64) }).map(({ slots, ...place }) => {
      const room = { bytes: null, room: null, shopRoom: null, queueRoom: null, firstQueueRoom: null }
      return [
        { op: 'beat', ...place, register: true },
        { op: 'claim', ...place, grant: { slots, ...room }, lost: false },
      ]
    }),
  ],
  [
    4,
    executor.map((lost) => [
      { op: 'lapse', executor: lost },
      { op: 'reap', shard: 0 },
      { op: 'reap', shard: 1 },
    ]),
  ],
  [
    2,
    fc.record({ executor, shard, failed: fc.boolean() }).map(({ failed, ...place }) => [
      {
        op: 'finish',
        ...place,
        ends: [{ how: failed ? 'failure' : 'success', call: null }],
        lost: false,
        twice: false,
        keeps: false,
      },
    ]),
  ],
  [4, fc.nat(50).map((pick) => [{ op: 'cancel', pick }])],
  [1, fc.record({ executor, shard }).map((place) => [{ op: 'leave', ...place }])],
  [
    3,
    fc
      .record({ queue, change: fc.oneof(fc.record({ max: fc.constantFrom(null, 1, 2) }), activeOrNot()) })
      .map((edit) => [{ op: 'edit', ...edit, resent: false }]),
  ],
  [2, fc.constantFrom(1, 500, 3_000).map((ms) => [{ op: 'advance', ms }])],
  [1, shard.map((of) => [{ op: 'promote', shard: of }])],
]

function activeOrNot(): fc.Arbitrary<{ readonly active: boolean }> {
  return fc.record({ active: fc.boolean() })
}

/** About executors that are lost with their jobs, cancels, pauses and limits. */
export function lossStory(length: number): fc.Arbitrary<Op[]> {
  const scene = fc.oneof(...scenes.map(([weight, arbitrary]) => ({ weight, arbitrary })))
  return fc.array(scene, { minLength: 1, maxLength: length, size: 'max' }).map((told) => told.flat())
}
