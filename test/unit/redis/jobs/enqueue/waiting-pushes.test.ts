import { expect, test } from 'vitest'
import {
  ENQUEUE_BATCH_BYTES_MAX,
  ENQUEUE_BATCH_MAX,
  INTAKE_WAITING_MAX,
} from '../../../../../src/domain/limits.ts'
import { WaitingPushes } from '../../../../../src/redis/jobs/enqueue/waiting-pushes.ts'

interface Push {
  readonly head: { readonly team: string }
  readonly request: { readonly inline: string; readonly large: string }
  readonly name: string
}

const large = 'x'.repeat(ENQUEUE_BATCH_BYTES_MAX / 2)

function push(team: string, name = team, payload = ''): Push {
  return { head: { team }, request: { inline: 'inline', large: payload }, name }
}

function waiting(...pushes: readonly Push[]): WaitingPushes<Push> {
  const list = new WaitingPushes<Push>()
  for (const one of pushes) list.add(one)
  return list
}

const names = (pushes: readonly Push[]) => pushes.map(({ name }) => name)

/** Takes batches until nothing waits. */
function batchesOf(list: WaitingPushes<Push>): string[][] {
  const batches: string[][] = []
  while (!list.isEmpty) batches.push(names(list.take()))
  return batches
}

test('the pushes of a team keep their order, and follow each other in a batch', () => {
  const list = waiting(push('a', 'a1'), push('b', 'b1'), push('a', 'a2'), push('b', 'b2'), push('a', 'a3'))
  expect(names(list.take())).toEqual(['a1', 'a2', 'a3', 'b1', 'b2'])
  expect(list.isEmpty).toBe(true)
})

test('a push of one team is in the next batch, however much another has waiting', () => {
  const many = Array.from({ length: 10 * ENQUEUE_BATCH_MAX }, () => push('a'))
  const list = waiting(...many, push('b'))
  const batch = names(list.take())
  expect(batch).toHaveLength(ENQUEUE_BATCH_MAX)
  expect(batch).toContain('b')
})

test('a small push waits for one batch of large ones, not for all of them', () => {
  const list = waiting(...Array.from({ length: 32 }, (_, i) => push('a', `a${i}`, large)))
  list.take()
  list.add(push('b'))
  expect(batchesOf(list).findIndex((batch) => batch.includes('b'))).toBeLessThanOrEqual(1)
})

test('teams whose pushes fill a batch alone take turns', () => {
  const huge = `${large}${large}`
  const list = waiting(...['a1', 'a2', 'a3'].map((name) => push('a', name, huge)))
  list.add(push('b', 'b1', huge))
  list.add(push('b', 'b2', huge))
  expect(batchesOf(list)).toEqual([['a1'], ['b1'], ['a2'], ['b2'], ['a3']])
})

test('a batch is bounded by its number of pushes and by its bytes, and takes one push of any size', () => {
  const small = waiting(...Array.from({ length: ENQUEUE_BATCH_MAX + 1 }, () => push('a')))
  expect(small.fillsBatch).toBe(true)
  expect(batchesOf(small).map(({ length }) => length)).toEqual([ENQUEUE_BATCH_MAX, 1])
  expect(small.fillsBatch).toBe(false)
  const byBytes = waiting(
    push('a', 'a1', `${large}${large}${large}`),
    push('a', 'a2', large),
    push('a', 'a3', large),
  )
  expect(batchesOf(byBytes)).toEqual([['a1'], ['a2'], ['a3']])
})

test('more teams than a batch holds all get a turn, each before any gets a second', () => {
  const teams = Array.from({ length: 3 * ENQUEUE_BATCH_MAX }, (_, i) => `t${i}`)
  const list = waiting(...teams.flatMap((team) => [push(team), push(team)]))
  const first = [...list.take(), ...list.take(), ...list.take()]
  expect(new Set(names(first))).toEqual(new Set(teams))
  expect(first).toHaveLength(teams.length)
})

test('a team that fills the list leaves places for others', () => {
  const list = new WaitingPushes<Push>()
  let filled = 0
  while (list.hasPlace('a')) {
    list.add(push('a'))
    filled += 1
  }
  expect(filled).toBeLessThan(INTAKE_WAITING_MAX)
  expect(filled).toBeGreaterThan(INTAKE_WAITING_MAX / 2)
  let newcomers = 0
  for (let i = 0; i < 100; i += 1) {
    if (!list.hasPlace(`b${i}`)) break
    list.add(push(`b${i}`))
    newcomers += 1
  }
  expect(newcomers).toBe(100)
  expect(list.hasPlace('a')).toBe(false)
})

test('it knows what it holds', () => {
  const [one, other] = [push('a'), push('a')]
  const list = waiting(one)
  expect([list.has(one), list.has(other)]).toEqual([true, false])
  list.take()
  expect(list.has(one)).toBe(false)
})
