import { expect, it } from 'vitest'
import { NO_QUOTAS, quotasOf, type QuotaName, type TeamQuotas } from '../../../../src/domain/quotas.ts'
import { NO_TEAM_SETTINGS } from '../../../../src/ports/settings.ts'
import { nameOfKeyedCron } from '../../../../src/resources/manifests/cron-manifest.ts'
import { createQuotasOf, withCronQuota, withRunQuotas } from '../../../../src/roles/parts/quota-part.ts'
import { aCron, clock } from '../../api/api-fixture.ts'

function setUp(quotas: TeamQuotas, there = 0) {
  const made: Array<string | null> = []
  const refused: string[] = []
  const edited: unknown[][] = []
  const editor = withCronQuota(
    {
      create: async (_team, settings, key) => {
        await Promise.resolve()
        made.push(key)
        return aCron(settings)
      },
      edit: (...given) => {
        edited.push(given)
        return Promise.resolve(null)
      },
      remove: () => Promise.resolve('removed'),
    },
    {
      crons: { getByName: (_, name) => Promise.resolve(name === nameOfKeyedCron('known') ? aCron() : null) },
      usage: {
        read: () =>
          Promise.resolve({
            queues: 0,
            pendingJobs: 0,
            storedBytes: 0,
            jobsPerMonth: 0,
            callsInFlight: 0,
            crons: there + made.length,
          }),
      },
      quotasOf: () => quotas,
      metrics: { refusedByQuota: (quota) => void refused.push(quota) },
      clock,
    },
  )
  return {
    made,
    refused,
    editor,
    edited,
    create: (key: string | null) => editor.create('shop', aCron().settings, key),
  }
}

it('refuses the cron after the last one, before anything of it is written, and counts that', async () => {
  const { made, refused, create } = setUp(quotasOf({ crons: 500 }), 499)
  await create(null)
  await expect(create(null)).rejects.toMatchObject({ code: 'quota_exceeded', quota: 'crons' })
  expect(made).toHaveLength(1)
  expect(refused).toEqual(['crons'])
})

it('lets no more pass at once than one after the other', async () => {
  const { made, create } = setUp(quotasOf({ crons: 3 }))
  const ends = await Promise.allSettled(Array.from({ length: 10 }, () => create(null)))
  expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(3)
  expect(made).toHaveLength(3)
})

it('hands edits on with their check', async () => {
  const { editor, edited } = setUp(quotasOf({ crons: 0 }))
  const check = () => undefined
  await editor.edit('shop', 7, { timeoutSeconds: 9 }, check)
  expect(edited).toEqual([['shop', 7, { timeoutSeconds: 9 }, check]])
})

it('takes a cron again under a key that lives, and any where there is no quota', async () => {
  const full = setUp(quotasOf({ crons: 0 }))
  await full.create('known')
  expect(full.made).toEqual(['known'])
  const free = setUp(NO_QUOTAS, 1_000_000)
  await free.create(null)
  expect(free.made).toEqual([null])
})

it('knows the lower of a team’s quota and the installation’s', () => {
  const settings = { of: () => ({ ...NO_TEAM_SETTINGS, quotas: quotasOf({ crons: 5, queues: 50 }) }) }
  const of = createQuotasOf(settings, quotasOf({ crons: 500, queues: 10 }))
  expect(of('shop')).toMatchObject({ crons: 5, queues: 10, pendingJobs: null })
})

const NOTHING = { queues: 0, crons: 0, pendingJobs: 0, storedBytes: 0, jobsPerMonth: 0, callsInFlight: 0 }
const DUE = { jobId: 32, scheduledAtMs: 0 }

/** Cron 7 and dead letter 16 are there; job 32 is a dead letter that was replayed, and 48 has not ended. */
function setUpJobs(quotas: TeamQuotas, held: Partial<Record<QuotaName, number>> = {}) {
  const made: string[] = []
  const refused: string[] = []
  const make = async (what: string): Promise<void> => {
    await Promise.resolve()
    made.push(what)
  }
  const byHand = withRunQuotas(
    {
      get: (_team, cronId) => Promise.resolve(cronId === 7 ? aCron() : null),
      runNow: async (_team, cronId) => {
        await make(`run ${cronId}`)
        return cronId === 7 ? { status: 'started', ...DUE } : { status: 'not_found' }
      },
    },
    {
      usage: {
        read: () =>
          Promise.resolve({ ...NOTHING, ...held, pendingJobs: (held.pendingJobs ?? 0) + made.length }),
      },
      quotasOf: () => quotas,
      metrics: { refusedByQuota: (quota) => void refused.push(quota) },
      clock,
    },
  )
  return { made, refused, ...byHand }
}

it.each([
  ['pendingJobs', 60],
  ['storedBytes', 60],
  ['jobsPerMonth', 3_600],
] as const)('refuses a run by hand at the quota of %s', async (quota, retryAfterSeconds) => {
  const refusal = { code: 'quota_exceeded', quota, retryAfterSeconds }
  const { made, refused, runNow } = setUpJobs(quotasOf({ [quota]: 9 }), { [quota]: 9 })
  await expect(runNow('shop', 7)).rejects.toMatchObject(refusal)
  expect(made).toEqual([])
  expect(refused).toEqual([quota])
  const below = setUpJobs(quotasOf({ [quota]: 9 }), { [quota]: 8 })
  await below.runNow('shop', 7)
  expect(below.made).toEqual(['run 7'])
})

it('answers a missing cron as such, at a quota as well', async () => {
  const { runNow } = setUpJobs(quotasOf({ pendingJobs: 0 }))
  expect(await runNow('shop', 8)).toEqual({ status: 'not_found' })
})

it('lets no more runs pass at once than one after the other', async () => {
  const { made, runNow } = setUpJobs(quotasOf({ pendingJobs: 3 }))
  await Promise.allSettled(Array.from({ length: 10 }, () => runNow('shop', 7)))
  expect(made).toHaveLength(3)
})
