import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { FairPlaces, type PlaceAnswer } from '../../../../src/domain/shares/fair-places.ts'

type Kind = 'team' | 'token'
const SHARES = { team: 0.8, token: 0.25 }
const open = (places: number) => new FairPlaces<Kind>({ places, shares: SHARES })

/** How many places a holder gets until it is refused, and by what. */
function fill(places: FairPlaces<Kind>, holders: (at: number) => Readonly<Record<Kind, string>>) {
  for (let taken = 0; taken <= 1_000; taken += 1) {
    const answer = places.take(holders(taken))
    if (answer.kind !== 'granted') return { taken, answer }
  }
  throw new Error('more than there are')
}

const byTokens = (team: string, tokens: number) => (at: number) => ({ team, token: `${team}/${at % tokens}` })

describe('a team that takes all it can get', () => {
  test('ends at four fifths with many tokens, and at a quarter with one', () => {
    expect(fill(open(1_000), byTokens('a', 1_000))).toEqual({
      taken: 784,
      answer: { kind: 'over', holder: 'team' },
    })
    expect(fill(open(1_000), byTokens('a', 1))).toEqual({
      taken: 245,
      answer: { kind: 'over', holder: 'token' },
    })
  })

  test('leaves places to a team that comes later, and many to the teams after it one each', () => {
    const places = open(1_000)
    fill(places, byTokens('a', 1_000))
    expect(fill(places, byTokens('b', 1_000)).taken).toBe(156)
    for (let team = 0; team < 59; team += 1) {
      expect(places.take({ team: `late-${team}`, token: `late-${team}/0` }).kind).toBe('granted')
    }
    expect(places.take({ team: 'a', token: 'a/0' })).toEqual({ kind: 'over', holder: 'team' })
    expect(places.take({ team: 'last', token: 'last/0' }).kind).toBe('granted')
    expect(places.take({ team: 'beyond', token: 'beyond/0' })).toEqual({ kind: 'full' })
  })

  test('does not keep its own next token out while it has not got its share', () => {
    const places = open(100)
    fill(places, byTokens('a', 1))
    expect(places.take({ team: 'a', token: 'a/next' }).kind).toBe('granted')
  })
})

test('a holder that stands in many teams has one share of it', () => {
  const places = open(1_000)
  const { taken, answer } = fill(places, (at) => ({ team: `team-${at}`, token: 'everywhere' }))
  expect([taken, answer]).toEqual([245, { kind: 'over', holder: 'token' }])
})

test('a place that is left can be taken again, and is given back once', () => {
  const places = open(1)
  const first = places.take({ team: 'a', token: 'a' })
  expect(places.take({ team: 'b', token: 'b' })).toEqual({ kind: 'full' })
  if (first.kind === 'granted') {
    first.leave()
    first.leave()
  }
  expect(places.take({ team: 'b', token: 'b' }).kind).toBe('granted')
  expect(places.take({ team: 'c', token: 'c' })).toEqual({ kind: 'full' })
})

test('whatever is taken and left: never above the whole, and who holds nothing is refused by a full pool alone', () => {
  const events = fc.array(fc.tuple(fc.nat(5), fc.nat(3), fc.boolean()), { maxLength: 300 })
  fc.assert(
    fc.property(events, fc.integer({ min: 1, max: 60 }), (all, total) => {
      const places = open(total)
      const held: Array<{ team: string; leave: () => void }> = []
      for (const [teamNumber, tokenNumber, isLeave] of all) {
        const team = `t${teamNumber}`
        if (isLeave) {
          held.shift()?.leave()
          continue
        }
        const before = held.length
        const own = held.filter((one) => one.team === team).length
        const answer: PlaceAnswer<Kind> = places.take({ team, token: `${team}/${tokenNumber}` })
        if (answer.kind === 'granted') held.push({ team, leave: answer.leave })
        if (own === 0) expect(answer.kind).toBe(before < total ? 'granted' : 'full')
        if (answer.kind === 'full') expect(held).toHaveLength(total)
        expect(held.length).toBeLessThanOrEqual(total)
        expect(own).toBeLessThanOrEqual(Math.max(1, total * SHARES.team))
      }
      for (const { leave } of held) leave()
      expect(fill(places, byTokens('x', total)).taken).toBe(fill(open(total), byTokens('x', total)).taken)
    }),
  )
})
