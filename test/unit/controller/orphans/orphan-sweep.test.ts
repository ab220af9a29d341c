import { describe, expect, test } from 'vitest'
import { createOrphanSweep, ORPHANS_FEW } from '../../../../src/controller/orphans/orphan-sweep.ts'
import { ResourceApiError } from '../../../../src/domain/errors.ts'
import type { KubeObject } from '../../../../src/ports/kubernetes.ts'
import { createFakeClock } from '../../../support/fake-clock.ts'
import { quietLogger } from '../../../support/quiet.ts'

const SWEEP_MS = 10_000

/** @param inForce names of the team `shop`, those of `resources` with a resource */
function setUp(inForce: readonly string[], resources: readonly string[]) {
  const clock = createFakeClock()
  const objects = resources.map((name) => ({ metadata: { namespace: 'shop', name, uid: `uid-${name}` } }))
  const all = objects as unknown as readonly KubeObject[]
  const answer: { read: () => Promise<KubeObject | null> } = { read: () => Promise.resolve(all[0] ?? null) }
  const enqueued: string[] = []
  const counted: number[] = []
  const errors: unknown[] = []
  const sweep = createOrphanSweep({
    what: 'Crons',
    view: { isSynced: () => true, all: () => all },
    writer: { read: () => answer.read() },
    readKeys: () => Promise.resolve(all.map(({ metadata }) => `shop/${metadata.name}`)),
    page: (cursor) => {
      const at = Number(cursor ?? 0)
      const next = at + 7 < inForce.length ? String(at + 7) : null
      return Promise.resolve({
        places: inForce.slice(at, at + 7).map((name) => ({ team: 'shop', name })),
        cursor: next,
      })
    },
    hasResource: (key) => resources.includes(key.slice('shop/'.length)),
    isWatched: (namespace) => namespace === 'shop',
    enqueue: (key) => void enqueued.push(key),
    count: (orphans) => void counted.push(orphans),
    clock,
    logger: { ...quietLogger, error: (message, fields) => void errors.push({ message, ...fields }) },
  })
  const leading = new AbortController()
  const ended = sweep.run(leading.signal)
  const end = async (): Promise<void> => {
    leading.abort()
    sweep.request()
    await clock.advance(SWEEP_MS)
    await ended
  }
  return { sweep, clock, answer, enqueued, counted, errors, end }
}

const names = (count: number) => Array.from({ length: count }, (_, index) => `c${index}`)

describe('a sweep', () => {
  test('names what is in force without a resource, once asked and not before', async () => {
    const { sweep, clock, enqueued, counted, end } = setUp(['kept', 'gone'], ['kept'])
    await clock.advance(SWEEP_MS * 5)
    expect(counted).toEqual([])
    sweep.request()
    await clock.advance(SWEEP_MS)
    expect(enqueued).toEqual(['shop/gone'])
    expect([sweep.takeDoomed('shop/gone'), sweep.takeDoomed('shop/gone')]).toEqual([true, false])
    expect(sweep.takeDoomed('shop/kept')).toBe(false)
    await end()
  })

  test.each([
    ['there is no resource at all', names(3), [], undefined],
    ['there are too many', names(ORPHANS_FEW + 2), ['c0'], undefined],
    ['the API server does not have what was seen', names(3), ['c0'], () => Promise.resolve(null)],
    [
      'the API server does not answer',
      names(3),
      ['c0'],
      () => Promise.reject(new ResourceApiError('unavailable', 'away')),
    ],
  ])('leaves them alone when %s', async (_why, inForce, resources, read) => {
    const { sweep, clock, answer, enqueued, counted, errors, end } = setUp(inForce, resources)
    if (read !== undefined) answer.read = read
    sweep.request()
    await clock.advance(SWEEP_MS)
    const orphans = inForce.filter((name) => !resources.includes(name)).map((name) => `shop/${name}`)
    expect(counted.at(-1)).toEqual(orphans.length)
    expect(errors).toMatchObject([
      {
        message: 'Crons without a resource are left alone',
        count: orphans.length,
        examples: orphans.slice(0, 10),
      },
    ])
    expect(enqueued).toEqual([])
    await end()
  })
})
