import { describe, expect, test } from 'vitest'
import { JobIds } from '../../../src/domain/jobs/job-ids.ts'
import type { HttpCallResult } from '../../../src/ports/http-caller.ts'
import type { Metrics } from '../../../src/ports/metrics.ts'
import type { ClaimedJob, ClaimedWork, ClaimGrant, WorkEnd } from '../../../src/ports/jobs.ts'
import { NO_TEAM_SETTINGS } from '../../../src/ports/settings.ts'
import { capacityOf } from '../../support/engine/capacity.ts'
import { teamsOf } from '../../support/no-own-secrets.ts'
import { quietMetrics } from '../../support/quiet.ts'
import {
  answered,
  claimAnswer,
  claimedCallback,
  claimedJob,
  createFakeCrons,
  cutCall,
  failedCall,
} from './executor-fixture.ts'
import { CONCURRENCY, setUpExecutor } from './executor-world.ts'

/** Enough to fill all slots of the executor and its reserve several times. */
const JOBS_OF_EACH_TEAM = 40

const boom = (): never => {
  throw new TypeError('planted')
}

type Thrower = 'bad' | 'good'

/** Something that throws in the way of the calls of one team. */
interface Plant {
  readonly at:
    | 'teams'
    | 'ownSecrets'
    | 'jobIds'
    | 'caller'
    | 'callerLate'
    | 'keepsSuccess'
    | 'finish'
    | 'finishCode'
    | 'quarantine'
    | keyof Pick<Metrics, 'jobStarted' | 'jobFinished' | 'callbackFinished' | 'defectConfined'>
    | 'localFault'
    | 'settings'
    | 'request'
    | 'earlier'
    | 'result'
  /** Which property of the object throws when it is read. */
  readonly property?: string
}

const SETTINGS = ['timeoutSeconds', 'retriesEnabled', 'retryDelays', 'successAssertions', 'callbackEvents']
const REQUEST = ['url', 'method', 'headers', 'payload', 'callbackUrl', 'callDepth', 'cron', 'trace']
const RESULT = [
  'status',
  'durationMs',
  'timings',
  'requestHeaders',
  'headers',
  'body',
  'found',
  'bodyTruncated',
]
const PLANTS: readonly Plant[] = [
  ...(['teams', 'ownSecrets', 'jobIds', 'caller', 'callerLate', 'keepsSuccess'] as const).map((at) => ({
    at,
  })),
  ...(['finish', 'finishCode', 'quarantine', 'localFault', 'earlier'] as const).map((at) => ({ at })),
  ...(['jobStarted', 'jobFinished', 'callbackFinished', 'defectConfined'] as const).map((at) => ({ at })),
  ...SETTINGS.map((property) => ({ at: 'settings', property }) as const),
  ...REQUEST.map((property) => ({ at: 'request', property }) as const),
  ...RESULT.map((property) => ({ at: 'result', property }) as const),
]

function spoil<T extends object>(object: T, property: string | undefined): T {
  if (property === undefined) return object
  return Object.defineProperty({ ...object }, property, { get: boom, enumerable: true })
}

/** Jobs and callbacks, which succeed and fail: every third is a callback. */
function workOf(team: Thrower, plant: Plant): ClaimedWork[] {
  const from = team === 'bad' ? 0 : 10_000
  return Array.from({ length: JOBS_OF_EACH_TEAM }, (_, i): ClaimedWork => {
    const jobId = from + i * 32
    const location = { queue: team === 'bad' ? '7' : '8', settingsHash: 'abcdefghijk', isLarge: false }
    if (i % 3 === 2) return claimedCallback({ jobId, team, location })
    const job: ClaimedJob = claimedJob({
      jobId,
      rootId: jobId,
      team,
      location,
      queueName: 'q',
      request: { callbackUrl: 'http://caller.test/done' },
      settings: { successAssertions: [{ type: 'body_contains', value: 'ok' }] },
    })
    if (team === 'good') return job
    if (plant.at === 'settings') return { ...job, settings: spoil(job.settings, plant.property) }
    if (plant.at === 'request') return { ...job, request: spoil(job.request, plant.property) }
    return plant.at === 'earlier' ? spoil(job, 'earlier') : job
  })
}

/** Takes what a grant allows, as the claim does. */
function takeWithin(waiting: ClaimedWork[], grant: ClaimGrant): ClaimedWork[] {
  const taken: ClaimedWork[] = []
  for (const work of [...waiting]) {
    const { team } = work
    const { queue } = work.location
    const headroom = Math.min(
      grant.teamHeadroom.get(team) ?? grant.otherTeamsHeadroom,
      grant.queueHeadroom.get(queue) ?? grant.otherQueuesHeadroom,
    )
    if (taken.length === grant.slots || taken.filter((other) => other.team === team).length >= headroom)
      continue
    taken.push(work)
    waiting.splice(waiting.indexOf(work), 1)
  }
  return taken
}

function setUp(plant: Plant) {
  const counts: Array<[jobId: number, team: string]> = []
  let readBusy = (): number => 0
  let leasesLost = 0
  const throws = (at: Plant['at'], team: string): void => {
    if (plant.at === at && team === 'bad') boom()
  }
  const metricOf = (at: 'jobStarted' | 'jobFinished' | 'callbackFinished' | 'defectConfined') => () => {
    // Figures do not say whose they are: they fail for all.
    if (plant.at === at) boom()
  }
  const uuids = new JobIds(2, '0123456789ab')
  const isBadId = (id: number) => id < 10_000
  const jobIds = new Proxy(uuids, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      return (...given: number[]) => {
        if (name === 'uuidOf') throws('jobIds', isBadId(given[0] ?? 0) ? 'bad' : 'good')
        return (value as (...given: number[]) => unknown).apply(target, given)
      }
    },
  })
  const teams = {
    ...teamsOf((team) => {
      throws('teams', team)
      return NO_TEAM_SETTINGS
    }),
    ownSecretsOf: ({ team }: { readonly team: string }) => {
      throws('ownSecrets', team)
      return null
    },
  }
  const world = setUpExecutor(1, createFakeCrons, {
    jobIds,
    teams,
    keepsSuccess: (team) => {
      throws('keepsSuccess', team)
      return true
    },
    metrics: {
      ...quietMetrics,
      callSlots: (_slots, read) => (readBusy = read),
      leaseLost: () => (leasesLost += 1),
      jobStarted: metricOf('jobStarted'),
      jobFinished: metricOf('jobFinished'),
      callbackFinished: metricOf('callbackFinished'),
      defectConfined: metricOf('defectConfined'),
    },
  })
  world.call.rule = (call): HttpCallResult | Promise<HttpCallResult> => {
    const id = Number(call.identity['Job-Id'] ?? -1)
    counts.push([id, call.team])
    throws('caller', call.team)
    if (plant.at === 'callerLate' && call.team === 'bad') return Promise.resolve().then(boom)
    if (plant.at === 'localFault' && call.team === 'bad') return cutCall('local_fault')
    if (id % 64 === 0) return failedCall()
    const result = answered({ found: new Set(['ok']) })
    return plant.at === 'result' && call.team === 'bad' ? spoil(result, plant.property) : result
  }
  return { world, counts, busy: () => readBusy(), leasesLost: () => leasesLost }
}

describe.each(PLANTS)('what throws in $at $property of one team', (plant) => {
  test('costs each of its jobs one call at most, and no neighbour anything', async () => {
    const { world, counts, busy, leasesLost } = setUp(plant)
    const ends: WorkEnd[] = []
    const waiting = [...workOf('bad', plant), ...workOf('good', plant)].toSorted(
      (a, b) => (a.jobId % 10_000) - (b.jobId % 10_000),
    )
    const released = new Map<number, number>()
    world.prepared.change = (source) => {
      source.claim.rule = (grant) => {
        const taken = takeWithin(waiting, grant)
        const crowdedTeams = [...new Set(waiting.map(({ team }) => team))]
        return claimAnswer(taken, { runnable: waiting.length, crowdedTeams })
      }
      source.finish.rule = (batch) => {
        const isBad = ({ work, type }: WorkEnd) =>
          work.team === 'bad' && (type !== 'quarantined' || plant.at === 'quarantine')
        const isThrowing = plant.at === 'finish' || plant.at === 'quarantine'
        if (isThrowing && batch.some(isBad)) boom()
        return batch.map((end) => {
          if (plant.at === 'finishCode' && isBad(end)) return 'failed'
          ends.push(end)
          if (end.type === 'released') {
            released.set(end.work.jobId, (released.get(end.work.jobId) ?? 0) + 1)
          }
          return 'done'
        })
      }
    }
    await world.start()
    for (let turn = 0; turn < 40; turn += 1) {
      await world.hint(0)
      await world.clock.advance(1_000)
    }

    const good = ends.filter(({ work }) => work.team === 'good')
    expect(good).toHaveLength(JOBS_OF_EACH_TEAM)
    expect(new Set(good.map(({ work }) => work.jobId)).size).toBe(JOBS_OF_EACH_TEAM)
    expect(good.filter(({ type }) => type === 'ended' || type === 'callback_ended')).toHaveLength(
      JOBS_OF_EACH_TEAM,
    )
    expect(counts.filter(([, team]) => team === 'good')).toHaveLength(JOBS_OF_EACH_TEAM)
    const calls = counts.flatMap(([id, team]) => (team === 'bad' && id >= 0 ? [id] : []))
    expect(calls).toHaveLength(new Set(calls).size)
    expect(leasesLost()).toBe(0)
    expect(world.ids).toHaveLength(1)

    const bad = ends.filter(({ work }) => work.team === 'bad')
    const heldBack = plant.at === 'quarantine' ? busy() : 0
    expect(bad.length + heldBack).toBe(JOBS_OF_EACH_TEAM - waiting.length)
    if (plant.at !== 'localFault') expect(released.size).toBe(0)
    if (plant.at !== 'quarantine') {
      expect(waiting).toEqual([])
      expect(busy()).toBe(0)
    } else {
      const { concurrency, reserve } = capacityOf(CONCURRENCY)
      expect(busy()).toBeLessThan(concurrency + reserve)
    }
  })
})
