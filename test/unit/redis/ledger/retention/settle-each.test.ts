import { expect, test } from 'vitest'
import { StoreUnavailableError } from '../../../../../src/domain/errors.ts'
import { SetAside } from '../../../../../src/domain/set-aside.ts'
import { settleEach } from '../../../../../src/redis/ledger/retention/settle-each.ts'
import { quietMetrics } from '../../../../support/quiet.ts'

const AWAY = new StoreUnavailableError('Redis is away')

async function settle(items: readonly string[], failing: Record<string, Error>) {
  const done: string[] = []
  const told: unknown[] = []
  const setAside = new SetAside('upkeep', {
    logger: { error: (_message, fields) => void told.push(fields['item']) },
    metrics: quietMetrics,
  })
  const settled = settleEach(items, {
    setAside,
    nameOf: (item) => ({ item }),
    run: async (item) => {
      const fault = failing[item]
      if (fault !== undefined) throw fault
      done.push(item)
    },
  })
  const fault = await settled.then(
    () => null,
    (error: unknown) => error,
  )
  return { done, told, fault }
}

test('an item that throws is set aside, and the others are done', async () => {
  const answer = await settle(['a', 'b', 'c'], { b: new Error('odd') })
  expect(answer).toEqual({ done: ['a', 'c'], told: ['b'], fault: null })
})

test('a single item that throws is set aside, too', async () => {
  expect(await settle(['a'], { a: new Error('odd') })).toEqual({ done: [], told: ['a'], fault: null })
})

test('what all items throw is thrown: it is a defect of the whole', async () => {
  const odd = new Error('odd')
  expect(await settle(['a', 'b'], { a: odd, b: odd })).toEqual({ done: [], told: [], fault: odd })
})

test('an outage is thrown after all others were tried', async () => {
  const answer = await settle(['a', 'b', 'c'], { a: AWAY, b: new Error('odd') })
  expect(answer).toEqual({ done: ['c'], told: ['b'], fault: AWAY })
})

test('nothing to do is no defect', async () => {
  expect(await settle([], {})).toEqual({ done: [], told: [], fault: null })
})
