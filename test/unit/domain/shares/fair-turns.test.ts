import { expect, test } from 'vitest'
import { FairTurns, NoTurnError } from '../../../../src/domain/shares/fair-turns.ts'
import { createFakeClock, type FakeClock } from '../../../support/fake-clock.ts'

const WAIT_MS = 5_000

interface Work {
  end(): void
  readonly ended: Promise<unknown>
}

function open({ atOnce, waiting }: { atOnce: number; waiting: number }) {
  const clock: FakeClock = createFakeClock()
  const turns = new FairTurns(clock, { atOnce, waiting, waitMs: WAIT_MS })
  const begun: string[] = []
  const start = (holder: string, name = holder): Work => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const ended = turns.run(holder, () => {
      begun.push(name)
      return promise
    })
    ended.catch(() => undefined)
    return { end: resolve, ended }
  }
  return { clock, turns, begun, start }
}

test('work begins at once while there is a place, and then in turns of its holders', async () => {
  const { begun, start } = open({ atOnce: 3, waiting: 100 })
  const running = ['a1', 'a2', 'a3', 'a4'].map((name) => start('a', name))
  running.push(start('b', 'b1'), start('b', 'b2'), start('c', 'c1'))
  expect(begun).toEqual(['a1', 'a2', 'b1'])
  for (const { end, ended } of running) {
    end()
    await ended
  }
  // A holder that runs something goes behind those that run nothing.
  expect(begun.slice(3)).toEqual(['c1', 'a3', 'a4', 'b2'])
})

test('of two that wait, the one who has just begun something comes last', async () => {
  const { clock, begun, start } = open({ atOnce: 1, waiting: 100 })
  const first = start('x')
  const all = ['a1', 'a2', 'b1', 'b2'].map((name) => start(name.slice(0, 1), name))
  first.end()
  await first.ended
  for (const at of [0, 2, 1, 3]) {
    all[at]?.end()
    await all[at]?.ended
  }
  expect(begun).toEqual(['x', 'a1', 'b1', 'a2', 'b2'])
  expect(clock.timers).toBe(0)
})

test('a holder that fills the places leaves one to another, though nothing of it ends', () => {
  const { begun, start } = open({ atOnce: 16, waiting: 100 })
  for (let at = 0; at < 200; at += 1) start('greedy')
  const before = begun.length
  expect(before).toBeLessThan(16)
  start('other')
  expect(begun.slice(before)).toEqual(['other'])
})

test('what waits is bounded, for a holder before it is for all', async () => {
  const { start } = open({ atOnce: 1, waiting: 10 })
  const all = Array.from({ length: 30 }, () => start('greedy').ended.catch((error: unknown) => error))
  const late = start('other')
  const refused = (await Promise.race([Promise.all(all.slice(-20)), late.ended])) as unknown[]
  expect(refused.every((error) => error instanceof NoTurnError)).toBe(true)
})

test('who waits for too long is told so, and keeps no place', async () => {
  const { clock, begun, start } = open({ atOnce: 1, waiting: 2 })
  const first = start('a')
  const late = start('b').ended.catch((error: unknown) => error)
  await clock.advance(WAIT_MS)
  expect(await late).toBeInstanceOf(NoTurnError)
  const next = start('c')
  first.end()
  await first.ended
  next.end()
  await next.ended
  expect(begun).toEqual(['a', 'c'])
})

test('work that fails gives its place back', async () => {
  const { turns, begun, start } = open({ atOnce: 1, waiting: 2 })
  const fault = turns.run('a', () => Promise.reject(new Error('broken')))
  const next = start('b')
  await expect(fault).rejects.toThrow('broken')
  next.end()
  await next.ended
  expect(begun).toEqual(['b'])
})
