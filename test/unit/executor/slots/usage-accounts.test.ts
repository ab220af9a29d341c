import { expect, test } from 'vitest'
import { HEADROOM_ENTRIES_MAX } from '../../../../src/domain/limits.ts'
import { UsageAccounts, type Account } from '../../../../src/executor/slots/usage-accounts.ts'

function account(key: string): Account {
  return { key, slots: 0, bytes: 0 }
}

test('idle accounts are dropped when there are many, busy ones are kept', () => {
  const accounts = new UsageAccounts<Account>()
  for (let i = 0; i < 10_000; i += 1) {
    const one = accounts.add(account(String(i)))
    if (i % 4 === 0) accounts.hold(one, 10)
  }
  const kept = [...accounts]
  expect(kept.filter(({ slots }) => slots > 0)).toHaveLength(2_500)
  expect(kept.length).toBeLessThan(6_000)
  expect(accounts.get('4')?.bytes).toBe(10)
  expect(accounts.get('1')).toBeUndefined()
})

test('of too many accounts with little headroom, the largest are listed', () => {
  const accounts = new UsageAccounts<Account>()
  for (let i = 0; i < 300; i += 1) {
    const one = accounts.add(account(String(i)))
    for (let slot = 0; slot <= i % 10; slot += 1) accounts.hold(one, 1)
  }
  const listed = accounts.headroomBelow(5, ({ slots }) => 10 - slots)
  expect(listed.size).toBe(HEADROOM_ENTRIES_MAX)
  // 30 each hold 10, 9, 8 and 7; of those that hold 6, eight fit.
  expect([...listed.values()].filter((headroom) => headroom <= 3)).toHaveLength(120)
  expect(accounts.largest).toBe(10)
})

test('the largest is an upper bound until the accounts are read again', () => {
  const accounts = new UsageAccounts<Account>()
  const one = accounts.add(account('one'))
  for (let slot = 0; slot < 3; slot += 1) accounts.hold(one, 1)
  accounts.free(one, 1)
  expect(accounts.largest).toBe(3)
  expect(accounts.headroomBelow(5, () => 9)).toEqual(new Map())
  expect(accounts.largest).toBe(2)
})
