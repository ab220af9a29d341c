import assert from 'node:assert/strict'
import { LOST_LEASES_MAX } from '../../../src/domain/limits.ts'
import { hang, latch } from '../../support/targets/target.ts'
import { until } from '../../support/until.ts'
import { addExecutor } from '../runner/lone-executor.ts'
import { scenario, type Stage } from '../runner/scenario.ts'

/** More than the slots of all executors, over several queues. */
const HUNG = { queues: 10, jobs: 60 }
const CALLS_BESIDE = 200

export const NEIGHBOUR_SCENARIOS = [
  scenario('F31', 'another team fills every slot it may have with calls that hang', async ({ here }) => {
    const noisy = await here.clientOfTeam('noisy')
    const held = latch()
    here.target.route('/hung', held.answering)
    for (let queue = 0; queue < HUNG.queues; queue += 1) {
      const jobs = Array.from({ length: HUNG.jobs }, () => ({
        queue: `hung-${queue}`,
        url: `${here.target.url}/hung`,
        timeout_seconds: 300,
      }))
      assert.equal((await noisy.send('POST', '/api/jobs/batch', { jobs })).status, 200)
    }
    const beside = () => here.target.arrivals('/plain').length
    const [, before] = [await here.target.arrived('/hung', HUNG.jobs), beside()]
    await until('the others are called beside it', () => beside() >= before + CALLS_BESIDE)
    held.open()
    await here.target.arrived('/hung', HUNG.queues * HUNG.jobs)
    assert.equal(here.target.arrivals('/hung').length, HUNG.queues * HUNG.jobs)
  }),
  scenario('F32', 'a job kills each executor that calls it', killHolders, {
    allowed: { moreCalls: LOST_LEASES_MAX },
  }),
  scenario(
    'F33',
    'a queue is deleted while its jobs run, another is paused and resumed',
    async ({ here, load }) => {
      const { client, target } = here
      const held = latch({ status: 500 })
      target.route('/deleted', held.answering)
      const id = await client.makeQueue('deleted', { retry_delays: [1] })
      const job = { queue: 'deleted', url: `${target.url}/deleted`, callback_url: `${target.url}/reported` }
      const jobs = Array.from({ length: 20 }, () => job)
      await client.send('POST', '/api/jobs/batch', { jobs })
      await target.arrived('/deleted', jobs.length)
      assert.equal((await client.send('DELETE', `/api/queues/${id}`)).status, 204)
      const again = await client.push({ queue: 'deleted', url: `${target.url}/again` })
      held.open()
      const paused = await client.queueNamed('load-1')
      assert.equal((await client.send('POST', `/api/queues/${paused?.queue_id}/pause`)).status, 200)
      await load.accepts(200)
      assert.equal((await client.send('POST', `/api/queues/${paused?.queue_id}/resume`)).status, 200)
      await client.ended(again.job_id)
      assert.equal(target.arrivals('/deleted').length, jobs.length)
      assert.deepEqual(target.arrivals('/reported'), [])
    },
    { isCheap: true },
  ),
]

/** Another executor stands ready each time: the pushes beside the job go on being called. */
async function killHolders({ here, redis }: Stage): Promise<void> {
  here.target.route('/poison', hang)
  const { job_id: id } = await here.client.push({
    queue: 'poison',
    url: `${here.target.url}/poison`,
    retries_enabled: false,
    timeout_seconds: 300,
  })
  for (let death = 1; death <= LOST_LEASES_MAX; death += 1) {
    await here.target.arrived('/poison', death)
    const holder = await here.holderOf(id)
    await addExecutor({ here, redis })
    await here.loseExecutor(holder)
  }
  const { failure_reason: reason } = await here.client.ended(id)
  assert.equal(reason, 'executor_lost')
}
