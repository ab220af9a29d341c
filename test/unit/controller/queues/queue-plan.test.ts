import { describe, expect, it, test } from 'vitest'
import type { HttpQueue } from '../../../../src/controller/kinds.ts'
import { createQueueCheck } from '../../../../src/controller/queues/queue-check.ts'
import { endOfTaken, planQueue } from '../../../../src/controller/queues/queue-plan.ts'
import { ORIGIN_LABEL, PUSH_ORIGIN, QUEUE_FINALIZER } from '../../../../src/resources/queue-owner.ts'
import { timeOf } from '../memory-kind.ts'
import { QUEUE_DEFAULTS } from './queue-world.ts'

const check = createQueueCheck()

interface Given {
  readonly madeAtSeconds: number
  readonly isPushed?: boolean
  readonly isHeld?: boolean
  readonly isDeleted?: boolean
  readonly isInvalid?: boolean
}

function queue(name: string, given: Given): HttpQueue {
  const metadata = {
    ...{ name, namespace: 'shop', uid: name, resourceVersion: '1' },
    creationTimestamp: timeOf(given.madeAtSeconds),
    ...(given.isPushed === true ? { labels: { [ORIGIN_LABEL]: PUSH_ORIGIN } } : {}),
    ...(given.isHeld === true ? { finalizers: [QUEUE_FINALIZER] } : {}),
    ...(given.isDeleted === true ? { deletionTimestamp: timeOf(99) } : {}),
  }
  const timeoutSeconds = given.isInvalid === true ? 9000 : 5
  const spec = { ...QUEUE_DEFAULTS, queueName: 'mail', timeoutSeconds } as HttpQueue['spec']
  return { apiVersion: 'punctual.dev/v1alpha1', kind: 'HttpQueue', metadata, spec }
}

/** The step with the name of its owner, and the ends of the others: `apply mine; pushed: dismiss`. */
function planned(...resources: readonly HttpQueue[]): string {
  const { step, taken } = planQueue(resources, check)
  if (step.kind === 'vanished') return step.kind
  const ends = taken.map((one) => `; ${one.metadata.name}: ${endOfTaken(one, step)}`)
  return `${step.kind} ${step.owner.metadata.name}${ends.join('')}`
}

const pushed = (given: Partial<Given> = {}) =>
  queue('pushed', { madeAtSeconds: 0, isPushed: true, isHeld: true, ...given })
const mine = (given: Partial<Given> = {}) => queue('mine', { madeAtSeconds: 5, ...given })

describe('of a pushed resource and one of a user', () => {
  test.each([
    ["the younger is the user's", 'apply mine; pushed: dismiss', pushed(), mine()],
    ["the older is the user's", 'apply mine; pushed: dismiss', pushed({ madeAtSeconds: 9 }), mine()],
    ['the pushed one was let go already', 'apply mine; pushed: dismiss', pushed({ isHeld: false }), mine()],
    ['the pushed one is deleted', 'apply mine; pushed: release', pushed({ isDeleted: true }), mine()],
    [
      'the pushed one is deleted and held by others',
      'apply mine; pushed: nothing',
      pushed({ isDeleted: true, isHeld: false }),
      mine(),
    ],
    ["the user's is not valid", 'refuse mine; pushed: tell', pushed(), mine({ isInvalid: true })],
    [
      "the user's is deleted in the middle of it",
      'apply pushed; mine: release',
      pushed({ isHeld: false }),
      mine({ isHeld: true, isDeleted: true }),
    ],
    [
      'both are deleted',
      'remove mine; pushed: release',
      pushed({ isDeleted: true }),
      mine({ isHeld: true, isDeleted: true }),
    ],
  ])('when %s', (_when, end, ...resources) => {
    expect(planned(...resources)).toBe(end)
    expect(planned(...resources.toReversed())).toBe(end)
  })
})

describe('of two of a kind', () => {
  it.each([true, false])('the older is in force, pushed: %s', (isPushed) => {
    const older = queue('older', { madeAtSeconds: 0, isPushed, isHeld: true })
    const younger = queue('younger', { madeAtSeconds: 5, isPushed })
    expect(planned(younger, older)).toBe('apply older; younger: tell')
    expect(
      planned(younger, queue('older', { madeAtSeconds: 0, isPushed, isHeld: true, isDeleted: true })),
    ).toBe('remove older; younger: tell')
  })
})
