import assert from 'node:assert/strict'
import { LOST_LEASES_MAX } from '../../../src/domain/limits.ts'
import { describe, expect, test } from 'vitest'
import type { ScheduledJob } from '../../../clients/typescript/src/generated/wire.ts'
import { startInstallation, type Installation } from '../../support/engine/installation.ts'
import type { Program } from '../../support/servers/processes.ts'
import { hang, latch, type Answering } from '../../support/targets/target.ts'
import { startTcpProxy, type TcpProxy } from '../../support/targets/tcp-proxy.ts'
import { until } from '../../support/until.ts'

/** Lease 15 s, margin 2 s, the interval of the reapers, and slack for a busy machine. */
const RESCUED_MS = 40_000

/** The first call of each job waits for the latch, further ones are answered at once. */
function firstTry(held: { readonly answering: Answering }): Answering {
  return (arrival, nth) => (nth === 1 ? held.answering(arrival, nth) : {})
}

/** How often the job is called. */
const DEATHS = [
  { step: 'claim', when: 'before', deliveries: 1 },
  { step: 'claim', when: 'after', deliveries: 1 },
  { step: 'finish', when: 'before', deliveries: 2 },
  { step: 'finish', when: 'after', deliveries: 1 },
] as const

/** Metrics of an executor, from its ops port. */
async function callsInFlight(executor: Program): Promise<number> {
  const { opsUrl } = await executor.logged('The executor runs')
  const text = await (await fetch(`${String(opsUrl)}/metrics`)).text()
  return Number(/^punctual_calls_in_flight (\d+)/m.exec(text)?.[1])
}

async function expectEachDone(here: Installation, ids: readonly number[]): Promise<void> {
  for (const id of ids) {
    const job = await here.client.ended(id, RESCUED_MS)
    expect(job).toMatchObject({ final_status: 'success', attempt_number: 1, chain: [{ job_id: id }] })
    expect(job.chain).toHaveLength(1)
  }
}

describe.concurrent('an executor', () => {
  test('whose job kills it each time fails the attempt as executor_lost; the chain and all other jobs continue', async () => {
    const here = await startInstallation()
    const held = latch()
    here.target.route('/poisons', ({ attempt }) => (attempt === 1 ? hang() : {}))
    const poison = await here.client.push({
      queue: 'poison',
      url: `${here.target.url}/poisons`,
      retry_delays: [1],
      timeout_seconds: 300,
    })
    const innocents = []
    for (let i = 0; i < 6; i += 1) {
      here.target.route(`/innocent/${i}`, firstTry(held))
      const pushed = await here.client.push({ queue: `other-${i}`, url: `${here.target.url}/innocent/${i}` })
      innocents.push(pushed.job_id)
    }
    for (let i = 0; i < 6; i += 1) await here.target.arrived(`/innocent/${i}`)
    for (let kill = 1; kill <= LOST_LEASES_MAX; kill += 1) {
      await here.target.arrived('/poisons', kill, RESCUED_MS)
      const [poisoned] = here.executors.slice(-1)
      assert.ok(poisoned)
      await here.loseExecutor(poisoned)
      await here.startExecutor()
    }
    const reason = { failure_reason: 'executor_lost', response_status: null }
    expect(await here.client.ended(poison.job_id, RESCUED_MS)).toMatchObject({
      ...reason,
      final_status: 'success',
      chain: [reason, { attempt_number: 2, status: 'completed' }],
    })
    await expectEachDone(here, innocents)
    const attempts = here.target.arrivals('/poisons').map((arrival) => arrival.attempt)
    expect(attempts).toEqual([...Array<number>(LOST_LEASES_MAX).fill(1), 2])
    held.open()
    await here.close()
  }, 240_000)

  test('that is killed mid-flight loses nothing: each of its jobs runs once more', async () => {
    const here = await startInstallation({ executors: 2 })
    const held = latch()
    here.target.route('/job', firstTry(held))
    await here.client.makeQueue('narrow', { max_parallelism: 5 })
    const push = (queue: string) => here.client.push({ queue, url: `${here.target.url}/job` })
    const pushes = await Promise.all([
      ...Array.from({ length: 20 }, () => push('narrow')),
      ...Array.from({ length: 60 }, (_, i) => push(`wide-${i % 6}`)),
    ])
    await here.target.arrived('/job', 65)
    // One may have been faster than the other.
    const [few, most] = (
      await Promise.all(
        here.executors.map(async (executor) => ({ executor, calls: await callsInFlight(executor) })),
      )
    ).toSorted((one, other) => one.calls - other.calls)
    most?.executor.signal('SIGKILL')
    await most?.executor.exited
    const killedAtMs = Date.now()
    await until('all its connections are closed', () => here.target.openNow() === few?.calls)
    const lost = new Set(
      here.target.arrivals('/job').flatMap(({ jobId, closedAtMs }) => (closedAtMs === null ? [] : [jobId])),
    )
    expect(lost.size).toBe(most?.calls)
    held.open()
    await expectEachDone(
      here,
      pushes.map((job) => job.job_id),
    )
    const byJob = Map.groupBy(here.target.arrivals('/job'), (arrival) => arrival.jobId)
    expect(byJob.size).toBe(80)
    for (const [jobId, [first, again, ...more]] of byJob) {
      expect(more).toEqual([])
      if (!lost.has(jobId)) expect(again).toBeUndefined()
      else {
        expect(again).toMatchObject({ attempt: 1, webhookId: first?.webhookId })
        expect((again?.arrivedAtMs ?? Infinity) - killedAtMs).toBeLessThan(RESCUED_MS)
        expect(again?.token).not.toBe(first?.token)
      }
    }
    await here.close()
  })

  test('that dies before or after Redis runs a step leaves a whole job, which the next one ends', async () => {
    const here = await startInstallation({ executors: 0 })
    const hashes = await here.loadScripts()
    const proxies: TcpProxy[] = []
    const startBehindProxy = async () => {
      const proxy = await startTcpProxy(here.redis.port)
      proxies.push(proxy)
      return { proxy, program: await here.startExecutor({ PUNCTUAL_REDIS_URL: proxy.url }) }
    }
    let dying = await startBehindProxy()
    for (const { step, when, deliveries } of DEATHS) {
      const { proxy, program } = dying
      const dead = proxy.cutAtScript(hashes[step], when, () => program.signal('SIGKILL'))
      const { job_id: id } = await here.client.push({
        queue: 'work',
        url: `${here.target.url}/${step}/${when}`,
        callback_url: `${here.target.url}/cb/${step}/${when}`,
      })
      await dead
      await here.endLeases(program)
      dying = await startBehindProxy()
      await expectEachDone(here, [id])
      await here.target.arrived(`/cb/${step}/${when}`)
      // A step of this job must not spring the next trap.
      await until('the callback has ended', async () => (await here.slotsInUse()) === 0)
      const attempts = here.target.arrivals(`/${step}/${when}`).map((arrival) => arrival.attempt)
      expect(attempts, `${when} ${step}`).toEqual(Array(deliveries).fill(1))
    }
    await here.close()
    for (const { step, when } of DEATHS) {
      expect(here.target.arrivals(`/cb/${step}/${when}`), `${when} ${step}`).toHaveLength(1)
    }
    await Promise.all(proxies.map((proxy) => proxy.close()))
  })

  test('whose replies are lost does everything once', async () => {
    const here = await startInstallation({ executors: 0 })
    const hashes = await here.loadScripts()
    const proxy = await startTcpProxy(here.redis.port)
    const { client } = await here.startApi({ PUNCTUAL_REDIS_URL: proxy.url })
    const executorProxy = await startTcpProxy(here.redis.port)
    await here.startExecutor({ PUNCTUAL_REDIS_URL: executorProxy.url })
    const ids: number[] = []
    for (const step of ['reserve_queue', 'reserve_ids', 'enqueue', 'claim', 'finish'] as const) {
      for (const when of ['before', 'after'] as const) {
        const isOurs = step === 'claim' || step === 'finish'
        const cut = (isOurs ? executorProxy : proxy).cutAtScript(hashes[step], when)
        // More than the ids reserved at a time, in one shard, a few at once: each push is answered within 2 s or refused.
        const [groups, queues] = step === 'reserve_ids' ? [12, 1] : [1, 8]
        for (let group = 0; group < groups; group += 1) {
          const answers = await Promise.all(
            Array.from({ length: groups === 1 ? 4 : 50 }, (_, i) =>
              client.send<ScheduledJob>('POST', '/api/jobs', {
                queue: `${step}-${when}-${i % queues}`,
                url: `${here.target.url}/job`,
              }),
            ),
          )
          // A busy machine may not send it again in time: then it is refused, whether it was stored or not.
          expect(answers.filter(({ status }) => status !== 201 && status !== 503)).toEqual([])
          ids.push(...answers.flatMap(({ status, body }) => (status === 201 ? [body.job_id] : [])))
        }
        await cut
      }
    }
    expect(new Set(ids).size).toBe(ids.length)
    await expectEachDone(here, ids)
    const calledIds = here.target.arrivals('/job').map(({ jobId }) => jobId)
    expect(new Set(calledIds).size).toBe(calledIds.length)
    expect(ids.filter((id) => !calledIds.includes(id))).toEqual([])
    await here.close()
    await Promise.all([proxy.close(), executorProxy.close()])
  })

  test('that freezes past its lease changes nothing when it wakes', async () => {
    const here = await startInstallation()
    const [frozen] = here.executors
    if (frozen === undefined) throw new Error('no executor')
    const [first, second] = [latch({ body: 'too late' }), latch({ status: 500 })]
    here.target.route('/job', (arrival, nth) => (nth === 1 ? first : second).answering(arrival, nth))
    const { job_id: id } = await here.client.push({
      queue: 'work',
      url: `${here.target.url}/job`,
      retries_enabled: false,
      callback_url: `${here.target.url}/cb`,
    })
    await here.target.arrived('/job')
    await here.startExecutor()
    frozen.signal('SIGSTOP')
    const [before, after] = await here.target.arrived('/job', 2, RESCUED_MS)
    expect(after).toMatchObject({ attempt: 1, jobId: id })
    expect(Number(after?.token?.split('-')[1])).toBeGreaterThan(Number(before?.token?.split('-')[1]))
    first.open()
    await until('the answer is on its way to the frozen one', () => before?.wasAnswered)
    const lines = frozen.log.length
    frozen.signal('SIGCONT')
    await frozen.logged('The lease of a shard was lost; its calls are aborted and their results discarded')
    await frozen.logged('The executor holds its leases', { after: lines })
    expect(await here.client.job(id)).toMatchObject({ status: 'processing', response_status: null })
    second.open()
    expect(await here.client.ended(id)).toMatchObject({
      final_status: 'failed_no_retries',
      response_status: 500,
      chain: [{}],
    })
    await here.target.arrived('/cb')
    const [, rescuer] = here.executors
    assert.ok(rescuer)
    await here.loseExecutor(rescuer)
    const { job_id: next } = await here.client.push({ queue: 'work', url: `${here.target.url}/next` })
    await expectEachDone(here, [next])
    expect(here.target.arrivals('/job')).toHaveLength(2)
    // The one that reported the end may have been lost before it noted that.
    expect(new Set(here.target.arrivals('/cb').map(({ webhookId }) => webhookId)).size).toBe(1)
    await here.close()
  })

  test('that stops claims no more, lets calls end and releases the rest at once', async () => {
    const here = await startInstallation()
    const [stopping] = here.executors
    if (stopping === undefined) throw new Error('no executor')
    const held = latch()
    here.target.route('/ends', held.answering)
    here.target.route('/hangs', (_arrival, nth) => (nth === 1 ? hang() : {}))
    const push = (path: string) => here.client.push({ queue: 'work', url: here.target.url + path })
    const [ends, hangs] = [await push('/ends'), await push('/hangs')]
    await here.target.arrived('/ends')
    await here.target.arrived('/hangs')
    stopping.signal('SIGTERM')
    await stopping.logged('Stopping: no new work is taken, running calls get a moment')
    const later = await push('/later')
    held.open()
    await expectEachDone(here, [ends.job_id])
    expect(await stopping.exited).toEqual({ code: 0, signal: null })
    expect(here.target.arrivals('/later')).toEqual([])
    expect(here.target.arrivals('/hangs')).toMatchObject([{ wasAnswered: false }])
    expect(await here.client.job(hangs.job_id)).toMatchObject({ status: 'pending', started_at: null })
    expect(await here.slotsInUse()).toBe(0)
    await here.startExecutor()
    await expectEachDone(here, [hangs.job_id, later.job_id])
    expect(here.target.arrivals('/hangs')).toHaveLength(2)
    expect(here.target.arrivals('/ends')).toHaveLength(1)
    await here.close()
  })

  test('that gets a second signal logs that the stop is forced, and another makes its calls', async () => {
    const here = await startInstallation()
    const [stopping] = here.executors
    assert.ok(stopping)
    here.target.route('/job', (_arrival, nth) => (nth === 1 ? hang() : {}))
    const { job_id: id } = await here.client.push({ queue: 'work', url: `${here.target.url}/job` })
    await here.target.arrived('/job')
    // Signals within two seconds of the first one count as the same.
    await until('it is forced', () => {
      if (stopping.isRunning()) stopping.signal('SIGTERM')
      return stopping.log.some(
        ({ msg }) => msg === 'Stopping at once: running calls are cut, and made again later',
      )
    })
    expect(await stopping.exited).toEqual({ code: 1, signal: null })
    await here.startExecutor()
    await expectEachDone(here, [id])
    await here.close()
  })
})

describe.concurrent('an API', () => {
  test('that dies before or after Redis runs the enqueue leaves no job or a whole one; a repeat under the key finds it', async () => {
    const here = await startInstallation()
    const hashes = await here.loadScripts()
    const proxy = await startTcpProxy(here.redis.port)
    for (const when of ['before', 'after'] as const) {
      const path = `/${when}`
      const dying = await here.startApi({ PUNCTUAL_REDIS_URL: proxy.url })
      const dead = proxy.cutAtScript(hashes.enqueue, when, () => dying.program.signal('SIGKILL'))
      const body = { queue: 'work', url: here.target.url + path, payload: { a: 1 } }
      const key = { 'idempotency-key': when }
      await expect(dying.client.push(body, key)).rejects.toThrow('fetch failed')
      await dead
      if (when === 'after') await here.target.arrived(path)
      else expect(await here.client.jobs()).toMatchObject({ jobs: [] })
      const { job_id: id } = await here.client.push(body, key)
      await expectEachDone(here, [id])
    }
    await here.close()
    for (const when of ['before', 'after']) expect(here.target.arrivals(`/${when}`)).toHaveLength(1)
    await proxy.close()
  })
})
