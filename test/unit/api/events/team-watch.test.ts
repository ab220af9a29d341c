import { expect, test } from 'vitest'
import { ROUND_MS, TeamWatch } from '../../../../src/api/events/team-watch.ts'
import type { AskedTeam, LiveKind, LiveReading } from '../../../../src/ports/live/live.ts'
import { createFakeClock } from '../../../support/fake-clock.ts'
import { quietLogger } from '../../../support/quiet.ts'

const IDLE = { pending: 0, inFlight: 0, startable: 0, stopped: 0, oldestStartable: null, unreadAlerts: 0 }

const oldest = (ageMs: number) => ({ ageMs, queue: { id: 7, name: 'emails' } })

function readingOf(
  change: Partial<LiveReading['figures']> = {},
  changed: readonly LiveKind[] = [],
): LiveReading {
  return { figures: { ...IDLE, ...change }, changed: new Set(changed), marks: [] }
}

/** Answers the readings in turn, the last one from then on; an Error is thrown. */
function watchOf(...readings: ReadonlyArray<LiveReading | Error>) {
  const clock = createFakeClock()
  const asked: AskedTeam[][] = []
  const read = (teams: readonly AskedTeam[]): Promise<LiveReading[]> => {
    asked.push([...teams])
    const next = readings[Math.min(asked.length, readings.length) - 1]
    return next instanceof Error
      ? Promise.reject(next)
      : Promise.resolve(teams.map(() => next as LiveReading))
  }
  const watch = new TeamWatch({ reader: { read }, clock, logger: quietLogger })
  const round = () => clock.advance(ROUND_MS)
  return { watch, asked, round, clock }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

test('all pages of a team are served by one reading a round, and nothing is read while there is none', async () => {
  const { watch, asked, round } = watchOf(readingOf())
  const texts: string[] = []
  const ends = Array.from({ length: 200 }, () => watch.watch('shop', (text) => texts.push(text)))
  await settled()
  expect(asked).toHaveLength(1)
  expect(texts).toHaveLength(200)
  await round()
  expect(asked.map((teams) => teams.map(({ team }) => team))).toEqual([['shop'], ['shop']])
  // Nothing has changed.
  expect(texts).toHaveLength(200)
  for (const end of ends) end()
  await round()
  await round()
  await round()
  expect(asked.length).toBeLessThanOrEqual(3)
})

test('figures are said when they change, and what has changed by its kind', async () => {
  const { watch, round } = watchOf(
    readingOf(),
    readingOf({ pending: 2, oldestStartable: oldest(4_900) }, ['audit', 'jobs']),
    readingOf({ pending: 2, oldestStartable: oldest(4_999) }),
  )
  const texts: string[] = []
  watch.watch('shop', (text) => texts.push(text))
  await settled()
  await round()
  await round()
  expect(texts).toEqual([
    'event: figures\ndata: {"pending":0,"in_flight":0,"startable":0,"stopped":0,"oldest_startable_seconds":null,"oldest_queue":null,"unread_alerts":0}\n\n',
    'event: figures\ndata: {"pending":2,"in_flight":0,"startable":0,"stopped":0,"oldest_startable_seconds":4,' +
      '"oldest_queue":{"queue_id":7,"name":"emails"},"unread_alerts":0}\n\n' +
      'event: changed\ndata: {"kinds":["jobs","audit"]}\n\n',
  ])
  const later: string[] = []
  watch.watch('shop', (text) => later.push(text))
  expect(later).toEqual([expect.stringContaining('"pending":2')])
})

test('a store that is away is said once, and the figures again when it is back', async () => {
  const { watch, asked, round } = watchOf(
    readingOf(),
    new Error('away'),
    new Error('away'),
    readingOf({}, ['jobs']),
  )
  const texts: string[] = []
  watch.watch('shop', (text) => texts.push(text.split('\n', 1)[0] ?? ''))
  await settled()
  await round()
  await round()
  await round()
  expect(texts).toEqual(['event: figures', 'event: away', 'event: figures'])
  // What has changed meanwhile is told against what was seen before.
  expect(asked[3]?.[0]?.before).not.toBeNull()
})

test('a watch that is closed leaves no timer, and rests once the round in progress has ended', async () => {
  const idle = watchOf(readingOf())
  idle.watch.watch('shop', () => undefined)
  await settled()
  expect(idle.clock.timers).toBe(1)
  await idle.watch.close()
  expect(idle.clock.timers).toBe(0)

  const [clock, answer] = [createFakeClock(), Promise.withResolvers<LiveReading[]>()]
  const watch = new TeamWatch({ reader: { read: () => answer.promise }, clock, logger: quietLogger })
  watch.watch('shop', () => undefined)
  let isClosed = false
  const closing = watch.close().then(() => (isClosed = true))
  await settled()
  expect(isClosed).toBe(false)
  answer.resolve([readingOf()])
  await closing
  expect(clock.timers).toBe(0)
})
