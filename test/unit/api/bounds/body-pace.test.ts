import { expect, test } from 'vitest'
import { BodyPace } from '../../../../src/api/bounds/body-pace.ts'

const CHUNK = 64 * 1024

function world() {
  const turns: Array<() => void> = []
  const resumed: string[] = []
  const pace = new BodyPace({ nextTurn: (run) => void turns.push(run) })
  return {
    take: (name: string) => pace.take(name.slice(0, 1), CHUNK, () => void resumed.push(name)),
    turn: () => turns.splice(0).forEach((run) => run()),
    turns: () => turns.length,
    resumed: () => resumed.splice(0),
  }
}

test('256 KiB of large bodies come in before the others wait for the next turn', () => {
  const { take, turn, resumed } = world()
  expect([take('a'), take('a'), take('a'), take('a'), take('a5'), take('a6')]).toEqual([
    true,
    true,
    true,
    true,
    false,
    false,
  ])
  expect(resumed()).toEqual([])
  turn()
  expect(resumed()).toEqual(['a5', 'a6'])
  expect(take('a')).toBe(true)
})

test('of those that wait, as many go on as a turn takes, teams by turns', () => {
  const { take, turn, turns, resumed } = world()
  for (let i = 0; i < 4; i += 1) take('x')
  for (const name of ['a1', 'a2', 'a3', 'a4', 'a5', 'b1', 'c1']) take(name)
  turn()
  expect(resumed()).toEqual(['a1', 'b1', 'c1', 'a2'])
  turn()
  expect(resumed()).toEqual(['a3', 'a4', 'a5'])
  turn()
  expect(turns(), 'no turn is asked for while nothing comes').toBe(0)
})
