import { describe, expect, it, test } from 'vitest'
import type { HttpQueue } from '../../../../src/controller/kinds.ts'
import { createQueueCheck } from '../../../../src/controller/queues/queue-check.ts'
import { endOfRival, planQueue } from '../../../../src/controller/queues/queue-plan.ts'
import { QUEUE_FINALIZER } from '../../../../src/resources/finalizers.ts'
import { ORIGIN_LABEL, PUSH_ORIGIN } from '../../../../src/resources/queue-owner.ts'
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
    name,
    namespace: 'shop',
    uid: name,
    resourceVersion: '1',
    creationTimestamp: timeOf(given.madeAtSeconds),
    ...(given.isPushed === true ? { labels: { [ORIGIN_LABEL]: PUSH_ORIGIN } } : {}),
    ...(given.isHeld === true ? { finalizers: [QUEUE_FINALIZER] } : {}),
    ...(given.isDeleted === true ? { deletionTimestamp: timeOf(99) } : {}),
  }
  const timeoutSeconds = given.isInvalid === true ? 9000 : 5
  const spec = { ...QUEUE_DEFAULTS, queueName: 'mail', timeoutSeconds } as HttpQueue['spec']
  return { apiVersion: 'punctual.dev/v1alpha1', kind: 'HttpQueue', metadata, spec }
}

/** The plan with the name of its object, and the ends of the others: `apply mine; pushed: delete`. */
function planned(...resources: readonly HttpQueue[]): string {
  const plan = planQueue(resources, check)
  if (plan.kind === 'absent' || plan.kind === 'nothing') return plan.kind
  const ends = resources
    .filter((one) => one !== plan.object)
    .map((one) => `; ${one.metadata.name}: ${endOfRival(one, plan)}`)
  return `${plan.kind} ${plan.object.metadata.name}${ends.join('')}`
}

const pushed = (given: Partial<Given> = {}) =>
  queue('pushed', { madeAtSeconds: 0, isPushed: true, isHeld: true, ...given })
const mine = (given: Partial<Given> = {}) => queue('mine', { madeAtSeconds: 5, ...given })

describe('of a pushed resource and one of a user', () => {
  test.each([
    ["the younger is the user's", 'apply mine; pushed: delete', pushed(), mine()],
    ["the older is the user's", 'apply mine; pushed: delete', pushed({ madeAtSeconds: 9 }), mine()],
    ['the pushed one was released already', 'apply mine; pushed: delete', pushed({ isHeld: false }), mine()],
    ['the pushed one is deleted', 'apply mine; pushed: release', pushed({ isDeleted: true }), mine()],
    [
      'the pushed one is deleted and held by others',
      'apply mine; pushed: nothing',
      pushed({ isDeleted: true, isHeld: false }),
      mine(),
    ],
    ["the user's is invalid", 'refuse mine; pushed: report', pushed(), mine({ isInvalid: true })],
    [
      "the user's is deleted during the takeover",
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
  it.each([true, false])('the older is applied, pushed: %s', (isPushed) => {
    const older = queue('older', { madeAtSeconds: 0, isPushed, isHeld: true })
    const younger = queue('younger', { madeAtSeconds: 5, isPushed })
    expect(planned(younger, older)).toBe('apply older; younger: report')
    expect(
      planned(younger, queue('older', { madeAtSeconds: 0, isPushed, isHeld: true, isDeleted: true })),
    ).toBe('remove older; younger: report')
  })
})
