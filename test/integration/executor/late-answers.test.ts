import { expect, test } from 'vitest'
import { startInstallation } from '../../support/engine/installation.ts'
import type { Program } from '../../support/servers/processes.ts'
import { startTcpProxy } from '../../support/targets/tcp-proxy.ts'

/** Reconnects are at most a second apart, and the job waits for its turn again. */
const BEGUN_MS = 20_000
const QUEUE = 'paced'

async function lateClaims(executor: Program): Promise<number> {
  const { opsUrl } = await executor.logged('The executor runs')
  const text = await (await fetch(`${String(opsUrl)}/metrics`)).text()
  return Number(/^punctual_claims_late_total (\d+)/m.exec(text)?.[1])
}

test('a job of a queue with a rate whose claim is answered late begins in its turn, and not beside the next ones', async () => {
  const here = await startInstallation({ executors: 0 })
  const hashes = await here.loadScripts()
  const proxy = await startTcpProxy(here.redis.port)
  const slow = await here.startExecutor({ PUNCTUAL_REDIS_URL: proxy.url })
  await here.client.makeQueue(QUEUE, { rate_limit: { limit: 2, period_seconds: 1 } })
  const url = `${here.target.url}/job`
  const push = () => here.client.push({ queue: QUEUE, url })

  // Redis has counted the first job, and the executor does not hear of it.
  const heldUp = proxy.cutAtScript(hashes.claim, 'after', () => proxy.hold())
  const first = await push()
  await heldUp
  const next = await push()
  await here.startExecutor()
  await here.target.arrived('/job')
  // The next job has begun half a second after the first one was counted.
  proxy.release()

  const ended = await here.client.ended(first.job_id, BEGUN_MS)
  await here.client.ended(next.job_id, BEGUN_MS)
  expect(await lateClaims(slow)).toBe(1)
  expect(ended).toMatchObject({ final_status: 'success', attempt_number: 1, chain: [{}] })
  const calls = here.target.arrivals('/job').map(({ jobId, attempt }) => ({ jobId, attempt }))
  expect(calls).toEqual([
    { jobId: next.job_id, attempt: 1 },
    { jobId: first.job_id, attempt: 1 },
  ])
  // By its own claim: the one that was answered late has counted as begun before the next job's.
  const startedMs = [next, first].map(async ({ job_id: id }) =>
    Date.parse((await here.client.ended(id)).started_at ?? ''),
  )
  const [nextMs = 0, firstMs = 0] = await Promise.all(startedMs)
  expect(firstMs - nextMs).toBeGreaterThanOrEqual(490)
  await here.close()
  await proxy.close()
}, 120_000)
