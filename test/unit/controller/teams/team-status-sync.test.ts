import { expect, test } from 'vitest'
import type { TeamSettings } from '../../../../src/controller/kinds.ts'
import { SYNC_EVERY_MS, STATUS_WRITES_PER_SECOND } from '../../../../src/controller/reconcile/status-sync.ts'
import { createTeamStatusSync } from '../../../../src/controller/teams/team-status-sync.ts'
import { StoreUnavailableError } from '../../../../src/domain/errors.ts'
import type { ChannelHealth } from '../../../../src/ports/notifications.ts'
import type { TeamUsage } from '../../../../src/ports/quotas.ts'
import { createFakeClock } from '../../../support/fake-clock.ts'
import { quietLogger } from '../../../support/quiet.ts'

const USAGE: TeamUsage = {
  queues: 10,
  crons: 10,
  pendingJobs: 1_000,
  storedBytes: 1_000_000,
  jobsPerMonth: 1_000,
  callsInFlight: 0,
}

/** @param count teams whose statuses show their usage; each requeue writes the status */
function setUp(count: number, quotas = {}, channels: readonly string[] = []) {
  const clock = createFakeClock()
  const held = new Map<string, TeamUsage>(Array.from({ length: count }, (_, i) => [`team${i}`, USAGE]))
  const teams = new Map<string, TeamSettings>()
  const show = (team: string, usage: TeamUsage | undefined): void => {
    const metadata = { name: 'team', namespace: team }
    const spec = {
      notifications: { channels: channels.map((name) => ({ name, type: 'Email', alertTypes: [] })) },
    }
    const message = (sync.failingOf(`${team}/team`) ?? []).map((one) => one.message).join(' ')
    const conditions = [{ type: 'NotificationsReady', message }]
    teams.set(`${team}/team`, {
      metadata,
      spec,
      status: { quotas, usage, conditions },
    } as unknown as TeamSettings)
  }
  const engine = { isAway: false, reads: 0, healthReads: 0 }
  const health = new Map<string, readonly ChannelHealth[]>()
  const enqueued: string[] = []
  const sync = createTeamStatusSync({
    informer: { all: () => teams.values(), get: (key) => teams.get(key) },
    teamStats: {
      read: (names) => {
        if (engine.isAway) return Promise.reject(new StoreUnavailableError('away'))
        engine.reads += 1
        return Promise.resolve(names.map((team) => held.get(team) ?? USAGE))
      },
    },
    channelHealth: {
      healthOf: (team) => {
        engine.healthReads += 1
        return Promise.resolve(health.get(team) ?? [])
      },
    },
    enqueue: (key) => {
      enqueued.push(key)
      show(key.split('/')[0] ?? '', sync.of(key) ?? undefined)
    },
    clock,
    logger: quietLogger,
  })
  for (const team of held.keys()) show(team, USAGE)
  const change = (team: string, usage: Partial<TeamUsage>): void =>
    void held.set(team, { ...USAGE, ...held.get(team), ...usage })
  const leading = new AbortController()
  const ended = sync.run(leading.signal)
  const end = async (): Promise<void> => {
    leading.abort()
    await clock.advance(SYNC_EVERY_MS)
    await ended
  }
  return { clock, teams, engine, health, enqueued, sync, change, show, end }
}

test('a team with a current status is not requeued; a changed one is, within one sync', async () => {
  const { clock, enqueued, sync, change, end } = setUp(3)
  await clock.advance(SYNC_EVERY_MS * 3)
  expect(enqueued).toEqual([])
  change('team1', { queues: 11 })
  await clock.advance(SYNC_EVERY_MS)
  expect(enqueued).toEqual(['team1/team'])
  expect(sync.of('team1/team')).toMatchObject({ queues: 11 })
  expect(sync.of('team9/team')).toBeNull()
  await clock.advance(SYNC_EVERY_MS * 3)
  expect(enqueued).toHaveLength(1)
  await end()
})

test('a team without usage in its status is requeued', async () => {
  const { clock, enqueued, show, end } = setUp(1)
  show('team0', undefined)
  await clock.advance(0)
  expect(enqueued).toEqual(['team0/team'])
  await end()
})

test('small changes at each read cause no write until the usage is stable', async () => {
  const { clock, enqueued, sync, change, end } = setUp(1)
  await clock.advance(0)
  for (let step = 1; step <= 9; step += 1) {
    change('team0', { storedBytes: 1_000_000 + step * 1_000, jobsPerMonth: 1_000 + step })
    await clock.advance(SYNC_EVERY_MS)
  }
  expect(enqueued).toEqual([])
  // A reconcile for another reason does not write the usage either.
  expect(sync.of('team0/team')).toEqual(USAGE)
  await clock.advance(SYNC_EVERY_MS)
  expect(enqueued).toEqual(['team0/team'])
  expect(sync.of('team0/team')).toMatchObject({ storedBytes: 1_009_000, jobsPerMonth: 1_009 })
  await end()
})

test('usage that is never stable is written every five minutes', async () => {
  const { clock, enqueued, change, end } = setUp(1, { pendingJobs: 1_000_000 })
  await clock.advance(0)
  const steps = (11 * 60_000) / SYNC_EVERY_MS
  for (let step = 0; step <= steps; step += 1) {
    change('team0', { pendingJobs: 2_000 + step })
    await clock.advance(SYNC_EVERY_MS)
  }
  expect(enqueued).toHaveLength(2)
  await end()
})

test('a change of one percent of the usage shown, or of a higher quota, is written at once', async () => {
  const free = setUp(1)
  const bounded = setUp(1, { storedBytes: 10_000_000 })
  for (const { clock, change } of [free, bounded]) {
    await clock.advance(0)
    change('team0', { storedBytes: 1_010_000 })
    await clock.advance(SYNC_EVERY_MS)
  }
  expect(free.enqueued).toHaveLength(1)
  expect(bounded.enqueued).toHaveLength(0)
  bounded.change('team0', { storedBytes: 1_100_000 })
  await bounded.clock.advance(SYNC_EVERY_MS)
  expect(bounded.enqueued).toHaveLength(1)
  for (const { end } of [free, bounded]) await end()
})

test('many that have changed are requeued at a fixed rate, and all are read at once', async () => {
  const { clock, engine, enqueued, change, end } = setUp(3 * STATUS_WRITES_PER_SECOND)
  await clock.advance(0)
  expect(engine.reads).toBe(1)
  for (let i = 0; i < 3 * STATUS_WRITES_PER_SECOND; i += 1) change(`team${i}`, { crons: 0 })
  await clock.advance(SYNC_EVERY_MS)
  expect(enqueued).toHaveLength(STATUS_WRITES_PER_SECOND)
  await clock.advance(1_000)
  expect(enqueued).toHaveLength(2 * STATUS_WRITES_PER_SECOND)
  await end()
})

test('when Redis stays away, each is requeued once to report it', async () => {
  const { clock, engine, enqueued, end } = setUp(2)
  engine.isAway = true
  await clock.advance(SYNC_EVERY_MS * 10)
  expect(enqueued).toEqual(['team0/team', 'team1/team'])
  await end()
})

test('a team whose channel begins or ends to fail is requeued, with what the channel said', async () => {
  const { clock, health, enqueued, sync, end } = setUp(2, {}, ['ops', 'mail'])
  await clock.advance(SYNC_EVERY_MS)
  expect(enqueued).toEqual([])
  const failing = (channel: string): ChannelHealth => ({
    channel,
    state: 'failing',
    failingSinceMs: Date.UTC(2026, 10, 22, 10, 0, 0, 5),
    lastAnswer: '404 no_service',
    lastTriedAtMs: 1,
  })
  // One that was removed is still known while there is no executor.
  health.set('team1', [
    failing('gone'),
    { ...failing('mail'), state: 'ok', failingSinceMs: null },
    failing('ops'),
  ])
  await clock.advance(SYNC_EVERY_MS)
  expect(enqueued).toEqual(['team1/team'])
  expect(sync.failingOf('team1/team')).toEqual([
    {
      reason: 'ChannelFailing',
      message: 'Channel ops has been failing since 2026-11-22T10:00:00Z: 404 no_service.',
    },
  ])
  await clock.advance(SYNC_EVERY_MS * 3)
  expect(enqueued).toHaveLength(1)
  health.set('team1', [])
  await clock.advance(SYNC_EVERY_MS)
  expect(enqueued).toHaveLength(2)
  await end()
})

test('the health of channels is read of teams with channels only', async () => {
  const { clock, engine, sync, end } = setUp(3)
  expect(sync.failingOf('team1/team')).toBeNull()
  await clock.advance(SYNC_EVERY_MS)
  expect(engine.healthReads).toBe(0)
  expect(sync.failingOf('team1/team')).toEqual([])
  await end()
})
