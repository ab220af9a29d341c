import { afterEach, describe, expect, test } from 'vitest'
import { StoreUnavailableError } from '../../../../src/domain/errors.ts'
import { emptyTally } from '../../../../src/domain/statistics/tally.ts'
import { createFakeClock } from '../../../support/fake-clock.ts'
import { aPrincipal } from '../../../support/principals.ts'
import {
  type ApiChange,
  BEARER,
  call,
  NOW_MS,
  OTHER_TOKEN,
  type RunningApi,
  startApi,
} from '../api-fixture.ts'
import { AN_INSTALLATION } from './an-installation.ts'

let api: RunningApi | null = null

afterEach(async () => {
  await api?.close()
})

const start = async (change: ApiChange = {}): Promise<void> => {
  api = await startApi(change)
}
const ask = (headers: Record<string, string> = BEARER) => call(api?.port ?? 0, '/api/status', { headers })
const only = (permission: 'read' | 'push' | 'operate'): ApiChange => ({
  tokens: { principalOf: () => ({ ...aPrincipal('default'), permissions: new Set([permission]) }) },
})
const away = () => Promise.reject(new StoreUnavailableError('away'))
const AWAY = 'Redis, or a part of it, does not answer.'

describe('the status', () => {
  test('tells an admin of the team and of the installation', async () => {
    await start()
    const { status, json } = await ask()
    expect(status).toBe(200)
    expect(json).toMatchObject({
      version: '1.2.3',
      team: 'default',
      executors_alive: true,
      backlog: { pending: 5, in_flight: 2, startable: 1, stopped: 2, oldest_startable_seconds: 1.5 },
      lateness_ms: { p50: 0, p99: 0 },
      quotas: { crons: 500, pending_jobs: 20, queues: null },
      usage: { crons: 2, pending_jobs: 3 },
      installation: {
        resources: 'folder',
        shards: 2,
        leader_epoch: 12,
        executors: {
          alive: 1,
          slots: 256,
          expired_leases: 0,
          executors: [{ name: 'executor-0', slots: 256, in_flight: 3, shards: 2, lease_ends_in_ms: 11_200 }],
        },
        backlog: { ready: 14, in_flight: 3, due_soon: 2, oldest_startable_seconds: 1.5 },
        redis: [
          {
            name: '10.0.0.7:6379',
            answers: true,
            max_bytes: null,
            saved_at: '2026-11-21T10:00:00.000+00:00',
            replicas: [{ name: '10.0.0.8:6379', is_online: true, lag_seconds: 0 }],
          },
        ],
      },
    })
  })

  test('tells a reader nothing of the installation but whether executors are alive', async () => {
    await start(only('read'))
    const { status, json, text } = await ask()
    expect(status).toBe(200)
    expect(json).toMatchObject({ executors_alive: true, installation: null, unknown: [] })
    expect(text).not.toContain('executor-0')
    expect(text).not.toContain('10.0.0.7')
  })

  test('is refused without the permission to read', async () => {
    await start(only('push'))
    expect((await ask()).status).toBe(403)
  })

  test('answers 304 to who has it already', async () => {
    await start()
    const { headers } = await ask()
    const again = await ask({ ...BEARER, 'if-none-match': String(headers.etag) })
    expect(again.status).toBe(304)
  })
})

describe('readings', () => {
  test('are shared for 5 s by all who ask, those of a team within it', async () => {
    const clock = createFakeClock()
    const asked: string[] = []
    await start({
      clock,
      installation: {
        read: () => {
          asked.push('installation')
          return Promise.resolve(AN_INSTALLATION)
        },
      },
      usage: {
        read: (team) => {
          asked.push(team)
          return Promise.resolve({
            queues: 0,
            crons: 0,
            pendingJobs: 0,
            storedBytes: 0,
            jobsPerMonth: 0,
            callsInFlight: 0,
          })
        },
      },
    })
    const other = { authorization: `Bearer ${OTHER_TOKEN}` }
    await Promise.all([ask(), ask(), ask(other)])
    expect(asked.toSorted()).toEqual(['default', 'installation', 'other'])
    await clock.advance(4_999)
    await ask()
    expect(asked).toHaveLength(3)
    await clock.advance(1)
    await ask()
    expect(asked.slice(3).toSorted()).toEqual(['default', 'installation'])
  })

  test('that failed are not kept', async () => {
    let isAway = true
    await start({
      installation: { read: () => (isAway ? away() : Promise.resolve(AN_INSTALLATION)) },
    })
    expect((await ask()).status).toBe(503)
    isAway = false
    expect((await ask()).status).toBe(200)
  })

  test('take the jobs of the last 5 minutes for the lateness', async () => {
    const since: number[] = []
    const late = { ...emptyTally(), lateness: [0, 0, 0, 0, 0, 4] }
    await start({
      statistics: {
        ofTeam: (_team, sinceMs) => {
          since.push(sinceMs)
          return Promise.resolve(new Map([[1, late]]))
        },
        ofQueue: () => Promise.resolve(null),
      },
    })
    expect((await ask()).json).toMatchObject({ lateness_ms: { p50: 22.63, p99: 22.63 } })
    expect(since).toEqual([NOW_MS - 300_000])
  })
})

describe('what is not known', () => {
  test('is null and said, while the rest is told', async () => {
    await start({
      liveFigures: { read: away },
      usage: { read: away },
      statistics: { ofTeam: away, ofQueue: away },
      installation: {
        read: () =>
          Promise.resolve({
            shards: 2,
            leaderEpoch: null,
            executors: null,
            backlog: null,
            servers: new Map([['10.0.0.7:6379', null]]),
          }),
      },
    })
    const { status, json } = await ask()
    expect(status).toBe(200)
    expect(json).toMatchObject({
      executors_alive: null,
      backlog: null,
      lateness_ms: null,
      usage: null,
      installation: { executors: null, backlog: null, redis: [{ answers: false, used_bytes: null }] },
    })
    expect(json).toHaveProperty('unknown', [
      { part: 'executors_alive', reason: AWAY },
      { part: 'backlog', reason: AWAY },
      { part: 'lateness_ms', reason: AWAY },
      { part: 'usage', reason: AWAY },
      { part: 'installation.executors', reason: AWAY },
      { part: 'installation.backlog', reason: AWAY },
      { part: 'installation.redis', reason: AWAY },
      {
        part: 'installation.leader_epoch',
        reason: 'No leader has begun in all shards yet, or Redis does not answer.',
      },
    ])
  })

  test('does not hold a lateness of which no job tells', async () => {
    await start({
      ...only('read'),
      statistics: { ofTeam: () => Promise.resolve(new Map()), ofQueue: () => Promise.resolve(null) },
    })
    expect((await ask()).json).toMatchObject({ lateness_ms: null, unknown: [] })
  })

  test.each([
    [
      'kubernetes',
      'The epoch counts leaderships. An API does not read the Lease, which names the controller that leads now.',
    ],
    ['folder', 'The epoch counts the starts that applied the folder: a folder has no other leader.'],
  ] as const)('is who leads, with resources in %s', async (resources, reason) => {
    await start({ about: { version: '1.2.3', resources } })
    expect((await ask()).json).toHaveProperty('unknown', [{ part: 'installation.leader_epoch', reason }])
  })
})
