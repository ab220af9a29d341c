import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Contender } from '../../../bench/contenders/contender.ts'
import { Measurements } from '../../../bench/report/figures.ts'
import { turnsOf, type Bench } from '../../../bench/scenarios/scenario.ts'
import { sizesOf, type Sizes } from '../../../bench/sizes.ts'

const CONTENDERS = ['punctual', 'bullmq', 'quirrel'].map((name) => ({ name }) as Contender)
let nowMs = 0

beforeEach(() => {
  nowMs = 0
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs)
})
afterEach(() => vi.restoreAllMocks())

/** Goes through all turns, each of which takes so many seconds. */
function turns(sizes: Partial<Sizes>, secondsEach: number): { taken: string[]; notes: string[] } {
  const bench: Bench = {
    sizes: { ...sizesOf('full'), ...sizes },
    folder: '',
    measured: new Measurements(),
    contenders: CONTENDERS,
    concurrencyOf: new Map(),
    notes: [],
    skipped: [],
    startedMs: 0,
    facts: { ceilings: [], paces: null, breakdowns: [] },
    say: () => undefined,
  }
  const taken: string[] = []
  for (const { run, contender } of turnsOf(bench, 'life', CONTENDERS)) {
    taken.push(`${run} ${contender.name}`)
    nowMs += secondsEach * 1000
  }
  return { taken, notes: bench.notes }
}

test('the contenders alternate, run after run', () => {
  const { taken, notes } = turns({ runs: 2, repeatedPeers: null }, 1)
  expect(taken).toEqual(['1 punctual', '1 bullmq', '1 quirrel', '2 punctual', '2 bullmq', '2 quirrel'])
  expect(notes).toEqual([])
})

test('peers that are not repeated take part once', () => {
  const { taken } = turns({ runs: 3, repeatedPeers: ['bullmq'] }, 1)
  expect(taken.slice(3)).toEqual(['2 punctual', '2 bullmq', '3 punctual', '3 bullmq'])
})

test('a run begins only if it is likely to end in time, but the first always does', () => {
  const untilSeconds = { ...sizesOf('full').untilSeconds, life: 89 }
  const { taken, notes } = turns({ runs: 5, repeatedPeers: null, untilSeconds }, 10)
  expect(taken).toHaveLength(6)
  expect(notes).toEqual(['life: 2 of 5 runs, then the time was up'])
  nowMs = 0
  expect(turns({ runs: 5, untilSeconds: { ...untilSeconds, life: 5 } }, 10).taken).toHaveLength(3)
})

test('the two that are repeated are expected to take the time of two', () => {
  const untilSeconds = { ...sizesOf('full').untilSeconds, life: 50 }
  const { taken } = turns({ runs: 5, repeatedPeers: ['bullmq'], untilSeconds }, 10)
  expect(taken).toHaveLength(5)
})
