import { expect, test } from 'vitest'
import { type ReadyFacts, splitReady } from '../../../../../src/domain/jobs/queues/ready-split.ts'

const PLAIN: ReadyFacts = {
  ready: 10,
  inFlight: 3,
  maxParallelism: null,
  isActive: true,
  isHeld: false,
  allowed: null,
  hasRate: false,
  oldestReadyMs: 7_000,
}

type Split = ReturnType<typeof splitReady>
type Told = readonly [Split['startable'], Split['stopped'], Split['oldestStartableMs']]

test.each<[string, Partial<ReadyFacts>, Told]>([
  ['nothing keeps them', {}, [10, null, 7_000]],
  ['there is none', { ready: 0, oldestReadyMs: null, isActive: false }, [0, null, null]],
  ['the queue is paused', { isActive: false, isHeld: true }, [0, { reason: 'paused', jobs: 10 }, null]],
  ['a window holds it', { isHeld: true, allowed: 0 }, [0, { reason: 'held', jobs: 10 }, null]],
  [
    'it is throttled and full',
    { allowed: 0, maxParallelism: 3 },
    [0, { reason: 'throttled', jobs: 10 }, null],
  ],
  ['its breaker is open', { allowed: 0 }, [0, { reason: 'throttled', jobs: 10 }, null]],
  ['one may try the target', { allowed: 1 }, [1, { reason: 'throttled', jobs: 9 }, 7_000]],
  ['it keeps to a rate', { allowed: 4, hasRate: true }, [4, { reason: 'throttled', jobs: 6 }, null]],
  ['its rate lets all begin', { allowed: 10, hasRate: true }, [10, null, 7_000]],
  ['it is at its limit', { maxParallelism: 3 }, [0, { reason: 'at_limit', jobs: 10 }, null]],
  ['it is above its limit', { maxParallelism: 2 }, [0, { reason: 'at_limit', jobs: 10 }, null]],
  ['two slots are free', { maxParallelism: 5 }, [2, { reason: 'at_limit', jobs: 8 }, 7_000]],
  ['as many slots are free', { maxParallelism: 13 }, [10, null, 7_000]],
])('of ready jobs, %s', (_, facts, [startable, stopped, oldestStartableMs]) => {
  expect(splitReady({ ...PLAIN, ...facts })).toEqual({ startable, stopped, oldestStartableMs })
})
