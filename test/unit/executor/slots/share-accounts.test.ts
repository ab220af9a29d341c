import { expect, test } from 'vitest'
import { HEADROOM_ENTRIES_MAX } from '../../../../src/domain/limits.ts'
import { Accounts, type Account } from '../../../../src/executor/slots/share-accounts.ts'

function account(key: string): Account {
  return { key, slots: 0, bytes: 0 }
}

test('those that hold nothing are forgotten when there are many, the others are not', () => {
  const accounts = new Accounts<Account>()
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

test('of too many that have little room, those that hold most are told of', () => {
  const accounts = new Accounts<Account>()
  for (let i = 0; i < 300; i += 1) {
    const one = accounts.add(account(String(i)))
    for (let slot = 0; slot <= i % 10; slot += 1) accounts.hold(one, 1)
  }
  const rooms = accounts.rooms(5, ({ slots }) => 10 - slots)
  expect(rooms.size).toBe(HEADROOM_ENTRIES_MAX)
  // 30 each hold 10, 9, 8 and 7, and of those that hold 6 there is place for 8.
  expect([...rooms.values()].filter((room) => room <= 3)).toHaveLength(120)
  expect(accounts.largest).toBe(10)
})

test('the largest is known until they are looked at again', () => {
  const accounts = new Accounts<Account>()
  const one = accounts.add(account('one'))
  for (let slot = 0; slot < 3; slot += 1) accounts.hold(one, 1)
  accounts.release(one, 1)
  expect(accounts.largest).toBe(3)
  expect(accounts.rooms(5, () => 9)).toEqual(new Map())
  expect(accounts.largest).toBe(2)
})
