import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startInstallation, type Installation } from '../../support/engine/installation.ts'
import { until } from '../../support/until.ts'

/** `PARALLELISM_JOBS=100000` runs the long form by hand. */
const JOBS = Number(process.env['PARALLELISM_JOBS'] ?? 5_000)
const WITHIN_MS = 200_000 * Math.ceil(JOBS / 20_000)
const EXECUTORS = 3
/** Queues by limit. Those with a limit of 1 get few jobs, because one call at a time would make the test slow. */
const QUEUES = [
  ...Array.from({ length: 8 }, (_, i) => ({ name: `one-${i}`, limit: 1, share: 1 })),
  ...Array.from({ length: 4 }, (_, i) => ({ name: `three-${i}`, limit: 3, share: 3 })),
  ...Array.from({ length: 4 }, (_, i) => ({ name: `ten-${i}`, limit: 10, share: 10 })),
]
const SHARES = QUEUES.reduce((sum, { share }) => sum + share, 0)
/** As many as are taken however slow the machine is. */
const PUSHED_AT_ONCE = 100
/** Long enough for calls of one queue to overlap. */
const ANSWERED_AFTER_MS = 4

let here: Installation

beforeAll(async () => {
  here = await startInstallation({ executors: EXECUTORS })
})
afterAll(() => here.close())

test(
  `${JOBS} jobs on ${EXECUTORS} executors never break a limit, and each runs once`,
  async () => {
    const ids = new Map<string, number>()
    for (const { name, limit } of QUEUES) {
      here.target.route(`/${name}`, () => sleep(ANSWERED_AFTER_MS, {}))
      ids.set(name, await here.client.makeQueue(name, { max_parallelism: limit, retries_enabled: false }))
    }
    const names = QUEUES.flatMap(({ name, share }) =>
      Array<string>(Math.round((JOBS * share) / SHARES)).fill(name),
    )
    const total = names.length
    // Half of them wait when the executors start, half are pushed while they run.
    const pause = (verb: string) =>
      Promise.all(ids.values().map((id) => here.client.send('POST', `/api/queues/${id}/${verb}`)))
    const accepted = new Map<number, string>()
    async function push(mine: readonly string[]): Promise<void> {
      for (let at = 0; at < mine.length; at += PUSHED_AT_ONCE) {
        await Promise.all(
          mine.slice(at, at + PUSHED_AT_ONCE).map(async (name) => {
            const job = await here.client.push({ queue: name, url: `${here.target.url}/${name}` })
            accepted.set(job.job_id, name)
          }),
        )
      }
    }
    const half = Math.floor(total / 2)
    const shuffled = names.map((_, i) => names[(i * 7919) % total] ?? '')
    await pause('pause')
    await push(shuffled.slice(0, half))
    await pause('resume')
    await push(shuffled.slice(half))
    await until('every job has arrived', () => here.target.arrivals().length >= total, WITHIN_MS)
    expect(await here.inspectAtRest()).toEqual([])

    for (const { name, limit } of QUEUES) {
      expect(here.target.mostOpen(`/${name}`), name).toBeLessThanOrEqual(limit)
      const { jobs } = await here.client.jobs({ queue: name, status: 'completed', limit: '1' })
      expect(jobs).toMatchObject([{ final_status: 'success' }])
    }
    // Unless the limits were reached, the test proves nothing.
    for (const { name, limit } of QUEUES)
      expect(here.target.mostOpen(`/${name}`), name).toBeGreaterThan(limit / 3)
    const arrivals = here.target.arrivals()
    expect(accepted.size).toBe(total)
    expect(arrivals).toHaveLength(total)
    expect(new Set(arrivals.map((arrival) => arrival.jobId)).size).toBe(total)
    for (const { jobId, path } of arrivals) expect(path).toBe(`/${accepted.get(jobId ?? -1)}`)
    expect(await here.slotsInUse()).toBe(0)
    const { queues } = await here.client.queues({ limit: '1000' })
    for (const { counts } of queues)
      expect(counts).toEqual({ pending: 0, delayed: 0, processing: 0, dead: 0 })
    const started = await Promise.all(here.executors.map(startedJobs))
    expect(started.reduce((sum, count) => sum + count, 0)).toBe(total)
    for (const count of started) expect(count).toBeGreaterThan(0)
  },
  WITHIN_MS + 60_000,
)

/** Jobs that an executor has started, from its ops port. */
async function startedJobs(executor: Installation['executors'][number]): Promise<number> {
  const { opsUrl } = await executor.logged('The executor runs')
  const text = await (await fetch(`${String(opsUrl)}/metrics`)).text()
  return Number(/^punctual_job_lateness_seconds_count (\d+)/m.exec(text)?.[1])
}
