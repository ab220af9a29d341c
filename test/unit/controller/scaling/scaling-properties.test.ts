import {
  array,
  assert,
  constant,
  double,
  integer,
  nat,
  oneof,
  option,
  property,
  record,
  type Arbitrary,
} from 'fast-check'
import { expect, test } from 'vitest'
import type { ScalingHistory } from '../../../../src/controller/scaling/scaling-history.ts'
import { planScaling, type ScalingSettings } from '../../../../src/controller/scaling/scaling-plan.ts'
import { DUE_HORIZON_MS } from '../../../../src/domain/limits.ts'
import type { Backlog } from '../../../../src/ports/queues.ts'
import { backlogOf, fleetOf } from './scaling-fixture.ts'

const WINDOW_MS = 10_000
const RUNS = { numRuns: 500 }

const settings: Arbitrary<ScalingSettings> = record({
  min: nat(3),
  spread: nat(12),
  callsPerPod: integer({ min: 1, max: 30 }),
}).map(({ min, spread, callsPerPod }) => ({
  mode: 'builtin',
  min,
  max: Math.max(1, min + spread),
  callsPerPod,
  downMs: WINDOW_MS,
}))

/** Idle more often than chance would have it: that is where a fleet shrinks. */
const backlog: Arbitrary<Backlog> = oneof(
  constant(backlogOf()),
  record({
    usable: oneof(constant(0), nat(300)),
    share: double({ min: 0, max: 1, noNaN: true }),
    more: nat(50),
    dueSoon: nat(2),
    nextDueInMs: option(nat(60_000)),
    oldestReadyMs: option(nat(90_000)),
  }).map(({ usable, share, more, ...rest }) => {
    const inFlight = Math.floor(usable * share)
    return backlogOf({ ...rest, usable, inFlight, ready: usable - inFlight + (usable > 0 ? more : 0) })
  }),
)

/** Replicas when the story begins. */
const atFirst = oneof(constant(0), nat(30))

interface Check {
  readonly afterMs: number
  /** null = Redis did not answer. */
  readonly backlog: Backlog | null
  /** Pods not ready yet. */
  readonly starting: number
}

const checks: Arbitrary<Check[]> = array(
  record({
    afterMs: oneof({ weight: 4, arbitrary: constant(1000) }, nat(15_000)),
    backlog: option(backlog, { freq: 8 }),
    starting: nat(2),
  }),
  { minLength: 1, maxLength: 60 },
)

interface Seen {
  readonly atMs: number
  readonly backlog: Backlog | null
  readonly from: number
  readonly to: number
}

/** Plays checks on a fleet that is scaled at once. */
function play(of: ScalingSettings, start: number, story: readonly Check[]) {
  const seen: Seen[] = []
  let history: ScalingHistory | null = null
  let desired = start
  let nowMs = 0
  for (const check of story) {
    nowMs += check.afterMs
    const fleet = fleetOf(desired, { ready: Math.max(0, desired - check.starting) })
    const plan = planScaling({ backlog: check.backlog, fleet, history, settings: of, nowMs })
    const to: number = plan.change?.replicas ?? desired
    seen.push({ atMs: nowMs, backlog: check.backlog, from: desired, to })
    history = plan.history
    desired = to
  }
  return { seen, history, desired, nowMs }
}

/** What the calls and the work alone ask for. */
function needed(of: ScalingSettings, work: Backlog): number {
  const isWork =
    work.ready + work.inFlight + work.dueSoon > 0 || (work.nextDueInMs ?? Infinity) <= DUE_HORIZON_MS
  const replicas = Math.max(Math.ceil(work.usable / of.callsPerPod), isWork ? 1 : 0)
  return Math.min(of.max, Math.max(of.min, replicas))
}

test('stays within its bounds, and remembers no more than them', () => {
  assert(
    property(settings, atFirst, checks, (of, start, story) => {
      const { seen, history } = play(of, start, story)
      for (const { backlog: work, from, to } of seen) {
        if (work === null) expect(to).toBe(from)
        else expect(to >= of.min && to <= of.max).toBe(true)
      }
      expect(history?.needs.length).toBeLessThanOrEqual(of.max + 1)
    }),
    RUNS,
  )
})

test('has what is needed at once', () => {
  assert(
    property(settings, atFirst, checks, (of, start, story) => {
      const { seen } = play(of, start, story)
      expect(seen.filter(({ backlog: work, to }) => work !== null && to < needed(of, work))).toEqual([])
    }),
    RUNS,
  )
})

test('is at zero only when nothing is ready, in flight or due', () => {
  assert(
    property(settings, atFirst, checks, (of, start, story) => {
      for (const { backlog: work, to } of play(of, start, story).seen) {
        if (work === null || to > 0) continue
        expect([work.ready, work.inFlight, work.usable, work.dueSoon]).toEqual([0, 0, 0, 0])
        expect(work.nextDueInMs ?? Infinity).toBeGreaterThan(DUE_HORIZON_MS)
      }
    }),
    RUNS,
  )
})

test('raises no further than the limits of the queues can use', () => {
  assert(
    property(settings, atFirst, checks, (of, start, story) => {
      const { seen } = play(of, start, story)
      const raised = seen.filter(({ from, to }) => to > from)
      const idle = raised.filter(({ backlog: work, to }) => to > Math.max(of.min, work?.usable ?? 0, 1))
      expect(idle).toEqual([])
    }),
    RUNS,
  )
})

test('never lowers within the window of a check that needed more, nor of one that could not read the backlog', () => {
  assert(
    property(settings, atFirst, checks, (of, start, story) => {
      const { seen } = play(of, Math.min(start, of.max), story)
      seen.forEach(({ atMs, from, to }, index) => {
        if (to >= from) return
        const within = seen.slice(0, index).filter((check) => check.atMs > atMs - WINDOW_MS)
        for (const { backlog: work, from: held } of within) {
          expect(to).toBeGreaterThanOrEqual(work === null ? held : needed(of, work))
        }
        // Nothing is lowered before a whole window has passed.
        expect(atMs - (seen[0]?.atMs ?? 0)).toBeGreaterThanOrEqual(WINDOW_MS)
      })
    }),
    RUNS,
  )
})

test('asks for no fewer when more calls could run', () => {
  assert(
    property(settings, atFirst, checks, backlog, nat(200), (of, start, story, work, more) => {
      const { history, desired, nowMs } = play(of, start, story)
      const target = (usable: number) => {
        const at = { ...work, ready: work.ready + more, usable }
        const input = { fleet: fleetOf(desired), history, settings: of, nowMs: nowMs + 1000 }
        return planScaling({ backlog: at, ...input }).change?.replicas ?? desired
      }
      expect(target(work.usable + more)).toBeGreaterThanOrEqual(target(work.usable))
    }),
    RUNS,
  )
})

test('writes nothing under a steady load once the window is over', () => {
  assert(
    property(settings, atFirst, checks, backlog, (of, start, story, work) => {
      const steady = { afterMs: 1000, backlog: { ...work, oldestReadyMs: null }, starting: 0 }
      const { seen } = play(of, start, [...story, ...Array.from({ length: 60 }, () => steady)])
      const changes = seen.slice(story.length).filter(({ from, to }) => from !== to)
      // What was needed earlier falls out of the window step by step, and never comes back.
      const rises = changes.filter(({ from, to }) => to > from)
      expect(rises.length).toBeLessThanOrEqual(1)
      expect(rises.every((rise) => rise === changes[0])).toBe(true)
      expect(seen.slice(-40).every(({ from, to }) => from === to)).toBe(true)
    }),
    RUNS,
  )
})
