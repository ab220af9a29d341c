import { expect, test } from 'vitest'
import { StorageFullError, StoreUnavailableError } from '../../../src/domain/errors.ts'
import { SetAside } from '../../../src/domain/set-aside.ts'

const WINDOW = { team: 'shop', window: 'night' }

function setUp() {
  const told: unknown[] = []
  const counted: string[] = []
  const setAside = new SetAside('window', {
    logger: { error: (_message, fields) => void told.push(fields) },
    metrics: { setAside: (kind) => void counted.push(kind) },
  })
  return { told, counted, setAside }
}

function fail(reason: string): () => never {
  return () => {
    throw new Error(reason)
  }
}

test('what throws is left out, and told once for each reason', () => {
  const { told, counted, setAside } = setUp()
  for (let i = 0; i < 3; i += 1) expect(setAside.try(WINDOW, fail('odd'), 'none')).toBe('none')
  expect(setAside.try({ ...WINDOW, window: 'day' }, fail('odd'), null)).toBeNull()
  expect(setAside.try(WINDOW, fail('odder'), null)).toBeNull()
  expect(told).toEqual([
    { kind: 'window', team: 'shop', window: 'night', reason: 'odd' },
    { kind: 'window', team: 'shop', window: 'day', reason: 'odd' },
    { kind: 'window', team: 'shop', window: 'night', reason: 'odder' },
  ])
  expect(counted).toEqual(['window', 'window', 'window'])
})

test('what does not throw is answered', () => {
  const { told, setAside } = setUp()
  expect(setAside.try(WINDOW, () => 7, null)).toBe(7)
  expect(told).toEqual([])
})

test('an outage of Redis sets nothing aside', () => {
  const { told, setAside } = setUp()
  for (const outage of [new StoreUnavailableError('away'), new StorageFullError()]) {
    const judge = () => {
      throw outage
    }
    expect(() => setAside.try(WINDOW, judge, null)).toThrow(outage)
  }
  expect(told).toEqual([])
})

test('however many things are set aside, what is remembered of them is bounded', () => {
  const { told, setAside } = setUp()
  for (let i = 0; i < 5_000; i += 1) setAside.note({ job: i }, new Error('odd'))
  expect(told).toHaveLength(5_000)
  setAside.note({ job: 4_999 }, new Error('odd'))
  expect(told).toHaveLength(5_000)
  setAside.note({ job: 0 }, new Error('odd'))
  expect(told).toHaveLength(5_001)
})
