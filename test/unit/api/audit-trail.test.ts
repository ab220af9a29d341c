import { expect, test } from 'vitest'
import { type WantedChange, withAudit } from '../../../src/api/audit-trail.ts'
import { EditRefusedError, StoreUnavailableError } from '../../../src/domain/errors.ts'
import { FakeAuditLog } from '../../support/fake-audit-log.ts'
import { AN_ACTOR } from '../../support/principals.ts'

const CONTEXT = { team: 'default', actor: AN_ACTOR }
const RESOURCE = { kind: 'queue', id: 7, name: 'orders' } as const
const WANTED: WantedChange = {
  action: 'edit',
  resource: RESOURCE,
  before: { timeout_seconds: 30, is_active: true },
}

test('a change is asked for before it is made, and settled with the fields that differ', async () => {
  const log = new FakeAuditLog()
  const result = await withAudit(log, CONTEXT, {
    ...WANTED,
    change: () => {
      expect(log.asked).toHaveLength(1)
      expect(log.ended).toHaveLength(0)
      return Promise.resolve({ timeout_seconds: 5, is_active: true })
    },
    endOf: (after) => ({ after }),
  })
  expect(result).toEqual({ timeout_seconds: 5, is_active: true })
  expect(log.asked[0]).toMatchObject({ actor: AN_ACTOR, action: 'edit', resource: RESOURCE, after: null })
  expect(log.ended).toEqual([
    {
      outcome: 'done',
      entry: {
        actor: AN_ACTOR,
        action: 'edit',
        resource: RESOURCE,
        before: { timeout_seconds: 30 },
        after: { timeout_seconds: 5 },
      },
    },
  ])
})

test.each([
  [new EditRefusedError('no'), 'refused'],
  [new StoreUnavailableError('gone'), 'unknown'],
])('what throws %s is %s', async (fault, outcome) => {
  const log = new FakeAuditLog()
  const change = () => Promise.reject(fault)
  await expect(withAudit(log, CONTEXT, { ...WANTED, change, endOf: () => null })).rejects.toBe(fault)
  expect(log.ended).toMatchObject([{ outcome }])
})

test('a change that found nothing to do leaves no entry', async () => {
  const log = new FakeAuditLog()
  await withAudit(log, CONTEXT, { ...WANTED, change: () => Promise.resolve(null), endOf: () => null })
  expect(log.ended).toEqual([null])
})

test('an edit after which no field differs leaves no entry', async () => {
  const log = new FakeAuditLog()
  const counted = { timeout_seconds: 30, is_active: true, counts: { pending: 3 } }
  const same = { change: () => Promise.resolve(counted), endOf: (after: object) => ({ after }) }
  await withAudit(log, CONTEXT, { ...WANTED, ...same })
  expect(log.ended).toEqual([null])
  await withAudit(log, CONTEXT, { ...WANTED, ...same, before: null })
  await withAudit(log, CONTEXT, { ...WANTED, before: {}, ...same, endOf: () => ({ after: null }) })
  expect(log.ended.slice(1)).toMatchObject([{ outcome: 'done' }, { outcome: 'done' }])
})

test('nothing is changed when it cannot be noted first', async () => {
  const log = new FakeAuditLog()
  log.ask = () => Promise.reject(new StoreUnavailableError('gone'))
  const change = () => Promise.reject(new Error('changed'))
  await expect(withAudit(log, CONTEXT, { ...WANTED, change, endOf: () => null })).rejects.toThrow('gone')
})

test('a change that is made is answered, even if its outcome cannot be noted', async () => {
  const log = new FakeAuditLog()
  log.settle = () => Promise.reject(new StoreUnavailableError('gone'))
  const change = () => Promise.resolve('made')
  expect(await withAudit(log, CONTEXT, { ...WANTED, change, endOf: () => ({ after: null }) })).toBe('made')
})

test('a change that is made is answered also where its entry cannot be told', async () => {
  const log = new FakeAuditLog()
  const endOf = (): never => {
    throw new RangeError('planted')
  }
  expect(await withAudit(log, CONTEXT, { ...WANTED, change: () => Promise.resolve('made'), endOf })).toBe(
    'made',
  )
  expect([log.asked.length, log.ended.length]).toEqual([1, 0])
})
