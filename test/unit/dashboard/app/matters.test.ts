import { expect, test } from 'vitest'
import type { Queue } from '../../../../clients/typescript/src/client.ts'
import { type Looked, mattersOf } from '../../../../dashboard/src/features/overview/matters.ts'

const queue = (id: number, given: Partial<Queue>, counts: Partial<Queue['counts']> = {}) =>
  ({
    queue_id: id,
    name: `q${id}`,
    is_active: true,
    is_draining: false,
    throttled: null,
    counts: { pending: 0, delayed: 0, processing: 0, dead: 0, ...counts },
    ...given,
  }) as Queue
const NOTHING: Looked = { queues: [], channels: [], failures: 0 }
const textsOf = (looked: Partial<Looked>) => mattersOf({ ...NOTHING, ...looked }).map(({ text }) => text)

test('what is well needs no attention', () => {
  expect(textsOf({ queues: [queue(1, {}, { pending: 10, processing: 3 })] })).toEqual([])
})

test('the worst comes first, and of each kind the largest', () => {
  const queues = [
    queue(1, { is_draining: true }, { pending: 1 }),
    queue(2, { is_active: false }, { pending: 2, delayed: 1, dead: 1 }),
    queue(3, {}, { dead: 7 }),
    queue(4, { throttled: { reason: 'circuit_open', until: null } }, { pending: 4, delayed: 1 }),
    queue(5, { throttled: { reason: 'rate_limited', until: null } }, { pending: 9 }),
  ]
  expect(textsOf({ queues, failures: 2 })).toEqual([
    '2 unread failure alerts',
    'q3 has 7 dead letters',
    'q2 has 1 dead letter',
    'q4 has stopped calling its target; 5 jobs wait',
    'q2 is paused; 3 jobs wait',
    'q1 drains; 1 job is left',
  ])
})

test('of many queues five are named, and the others counted', () => {
  const queues = Array.from({ length: 1_000 }, (_, id) => queue(id, {}, { dead: id }))
  const texts = textsOf({ queues })
  expect(texts).toHaveLength(6)
  expect(texts[0]).toBe('q999 has 999 dead letters')
  expect(texts.at(-1)).toBe('994 more queues with dead letters')
})
