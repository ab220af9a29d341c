import { expect, it } from 'vitest'
import { NO_QUOTAS, quotasOf, type TeamQuotas } from '../../../src/domain/quotas.ts'
import { NO_TEAM_SETTINGS } from '../../../src/ports/team-settings.ts'
import { nameOfKeyedCron } from '../../../src/resources/cron-manifest.ts'
import { createQuotasOf, withCronQuota } from '../../../src/roles/quota-part.ts'
import { aCron } from '../api/api-fixture.ts'

function setUp(quotas: TeamQuotas, there = 0) {
  const made: Array<string | null> = []
  const refused: string[] = []
  const editor = withCronQuota(
    {
      create: async (_team, settings, key) => {
        await Promise.resolve()
        made.push(key)
        return aCron(settings)
      },
      edit: () => Promise.resolve(null),
      remove: () => Promise.resolve('removed'),
    },
    {
      crons: { getByName: (_, name) => Promise.resolve(name === nameOfKeyedCron('known') ? aCron() : null) },
      usage: {
        read: () =>
          Promise.resolve({
            ...{ queues: 0, pendingJobs: 0, storedBytes: 0, jobsPerMonth: 0, callsInFlight: 0 },
            crons: there + made.length,
          }),
      },
      quotasOf: () => quotas,
      metrics: { refusedByQuota: (quota) => void refused.push(quota) },
    },
  )
  return { made, refused, create: (key: string | null) => editor.create('shop', aCron().settings, key) }
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
