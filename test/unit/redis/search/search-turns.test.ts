import { expect, test } from 'vitest'
import { SearchTurns } from '../../../../src/redis/search/search-turns.ts'

/** A step that runs until it is ended. */
function steps(turns: SearchTurns) {
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  const ask = (name: string): Promise<void> =>
    turns.step(name.slice(0, 1), () => {
      begun.push(name)
      return new Promise((resolve) => ends.set(name, resolve))
    })
  const end = async (name: string): Promise<void> => {
    ends.get(name)?.()
    // The end passes the turn on after the promises of the step.
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { begun, ask, end }
}

test('two steps run at once, and teams take turns however many steps one of them asks for', async () => {
  const { begun, ask, end } = steps(new SearchTurns())
  const all = Promise.all(['a1', 'a2', 'a3', 'a4', 'a5', 'b1', 'b2', 'c1'].map(ask))
  expect(begun).toEqual(['a1', 'a2'])
  for (const name of ['a2', 'a1', 'a3', 'b1', 'c1', 'a4', 'b2', 'a5']) await end(name)
  expect(begun).toEqual(['a1', 'a2', 'a3', 'b1', 'c1', 'a4', 'b2', 'a5'])
  await all
})

test('a step that fails passes its turn on', async () => {
  const turns = new SearchTurns()
  const fails = () => turns.step('a', () => Promise.reject(new Error('no')))
  for (let i = 0; i < 3; i += 1) await expect(fails()).rejects.toThrow('no')
  await expect(turns.step('b', () => Promise.resolve(7))).resolves.toBe(7)
})

test('a team has 4 searches under way, and all teams 64', () => {
  const turns = new SearchTurns()
  for (let i = 0; i < 4; i += 1) expect(turns.enter('a')).toBe(true)
  expect(turns.enter('a')).toBe(false)
  turns.leave('a')
  expect(turns.enter('a')).toBe(true)
  for (let i = 0; i < 60; i += 1) expect(turns.enter(`b${i}`)).toBe(true)
  expect(turns.enter('c')).toBe(false)
  turns.leave('b0')
  expect(turns.enter('c')).toBe(true)
})
