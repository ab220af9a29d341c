import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { ApiAnswer, ApiClient } from '../../support/servers/api-client.ts'
import { startInstallation, type Installation } from '../../support/engine/installation.ts'
import { complaintsAbout, type Program } from '../../support/servers/processes.ts'
import type { ScheduledJob } from '../../../clients/typescript/src/generated/wire.ts'
import { freePort, startRedis, type TestRedis } from '../../support/servers/redis-server.ts'
import { hang, latch } from '../../support/targets/target.ts'
import { startTcpProxy } from '../../support/targets/tcp-proxy.ts'
import { until } from '../../support/until.ts'

/** Unit tests hold the API to the 2 s that it promises, by a clock; here it must not hang. */
const ANSWERED_MS = 10_000
/** Back at work after Redis is: reconnects are at most a second apart, a lease that was lost is made anew. */
const RECOVERED_MS = 20_000

/** Its calls may be held for as long as a slow machine takes. */
const LONG = { queue: 'held', timeout_seconds: 300 }

const folders: string[] = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'punctual-outage-'))
  folders.push(folder)
  return folder
}

function expectRetryLater(answer: ApiAnswer): void {
  expect(answer).toMatchObject({ status: 503, body: { error: expect.any(String) } })
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
  expect(answer.tookMs).toBeLessThan(ANSWERED_MS)
}

/** Every request an API has, while its Redis is away. */
async function expectAllRetryLater(client: ApiClient): Promise<void> {
  const push = { queue: 'work', url: 'http://127.0.0.1:9/' }
  const answers = await Promise.all([
    client.send('POST', '/api/jobs', push),
    client.send('POST', '/api/jobs', { ...push, queue: 'never seen before' }),
    client.send('GET', '/api/jobs/16'),
    client.send('GET', '/api/jobs'),
    client.send('DELETE', '/api/jobs/16'),
    client.send('POST', '/api/jobs/16/replay'),
    client.send('GET', '/api/queues'),
    client.send('PATCH', '/api/queues/4', { timeout_seconds: 5 }),
    client.send('POST', '/api/queues/4/pause'),
    client.send('DELETE', '/api/queues/4'),
  ])
  for (const answer of answers) expectRetryLater(answer)
}

async function isBack(client: ApiClient): Promise<boolean> {
  return (await client.send('GET', '/api/queues')).status === 200
}

/** Answers the id of a push. The API may answer reads again, and on a busy machine refuse a push for a moment more. */
function pushedWhenTaken(client: ApiClient, url: string): Promise<number> {
  const push = async (): Promise<number | null> => {
    const { status, body } = await client.send<{ job_id: number }>('POST', '/api/jobs', {
      queue: 'work',
      url,
    })
    return status === 201 ? body.job_id : null
  }
  return until('a push is taken', push, RECOVERED_MS)
}

/** Pushes without a pause until `stop`; answers the ids of all that got a 201. */
function startLoad(here: Installation, path: string): { accepted: number[]; stop(): Promise<void> } {
  const accepted: number[] = []
  const others: ApiAnswer[] = []
  let isStopped = false
  async function pushOn(lane: number): Promise<void> {
    for (let i = 0; !isStopped; i += 1) {
      const answer = await here.client.send<{ job_id: number }>('POST', '/api/jobs', {
        queue: `load-${lane}-${i % 3}`,
        url: `${here.target.url}${path}`,
        retries_enabled: false,
      })
      if (answer.status === 201) accepted.push(answer.body.job_id)
      else others.push(answer)
      // A client that is asked to come back later does not hammer.
      if (answer.status === 503)
        await until('pushes may be taken again', () => isStopped || isBack(here.client))
    }
  }
  const lanes = Promise.all([0, 1, 2, 3].map(pushOn))
  return {
    accepted,
    stop: async () => {
      isStopped = true
      await lanes
      for (const answer of others) expectRetryLater(answer)
    },
  }
}

/** Each accepted job ended well, and came to the target once, or twice when it was in flight at the fault. */
async function expectOncePerJob(
  here: Installation,
  options: { accepted: readonly number[]; path: string; faults: number },
): Promise<void> {
  const { accepted, path, faults } = options
  const byJob = () => Map.groupBy(here.target.arrivals(path), (arrival) => arrival.jobId)
  await until('every job has arrived', () => accepted.every((id) => byJob().has(id)), 40_000)
  await here.inspectAtRest(40_000)
  for (const id of accepted) {
    const arrivals = byJob().get(id) ?? []
    expect(arrivals.length, `deliveries of ${id}`).toBeLessThanOrEqual(1 + faults)
    expect(new Set(arrivals.map((arrival) => arrival.attempt))).toEqual(new Set([1]))
  }
  for (const id of accepted.slice(-200)) {
    expect(await here.client.ended(id, RECOVERED_MS)).toMatchObject({ final_status: 'success', chain: [{}] })
  }
}

/** The id of the connection that listens to hints; null = there is none. */
async function hintsConnection(redis: TestRedis): Promise<string | null> {
  const clients = String(await redis.client.client('LIST'))
  return /id=(\d+)[^\n]* name=punctual-hints /.exec(clients)?.[1] ?? null
}

describe.concurrent('while Redis', () => {
  test('is killed and started again under load, the API says 503 and nothing accepted is lost', async () => {
    const [port, dataFolder] = [await freePort(), newFolder()]
    // While the disk is busy with an earlier one, a Redis that syncs each second puts off writes by up to two.
    const options = { port, dataFolder, settings: ['--appendfsync', 'no'] }
    const here = await startInstallation({ redis: options, executors: 2 })
    const held = latch()
    here.target.route('/held', (arrival, nth) => (nth === 1 ? held.answering(arrival, nth) : {}))
    const inFlight = await Promise.all(
      Array.from({ length: 10 }, () => here.client.push({ ...LONG, url: `${here.target.url}/held` })),
    )
    await here.target.arrived('/held', 10)
    const load = startLoad(here, '/load')
    await until('the load is on', () => load.accepted.length > 300)
    // What is written to the file when a push is answered stays, synced or not: a kill is no loss of power.
    const died = new Promise((resolve) => here.redis.process.once('exit', resolve))
    here.redis.process.kill('SIGKILL')
    await died
    await until(
      'the API has noticed',
      async () => (await here.client.send('GET', '/api/queues')).status === 503,
    )
    await expectAllRetryLater(here.client)
    held.open()
    const second = await startRedis(options)
    await until('the API is back', () => isBack(here.client), RECOVERED_MS)
    const before = load.accepted.length
    await until('the load goes on', () => load.accepted.length > before + 100)
    await load.stop()
    await expectOncePerJob(here, { accepted: load.accepted, path: '/load', faults: 1 })
    for (const { job_id: id } of inFlight) {
      expect(await here.client.ended(id, RECOVERED_MS)).toMatchObject({
        final_status: 'success',
        chain: [{}],
      })
    }
    expect(here.target.arrivals('/held').length).toBeLessThanOrEqual(20)
    await here.close()
    await second.stop()
  })

  test('stands still until an executor is not ready, nothing is done twice', async () => {
    const here = await startInstallation()
    const listener = await hintsConnection(here.redis)
    const load = startLoad(here, '/load')
    await until('the load is on', () => load.accepted.length > 300)
    const opsUrl = String((await here.executors[0]?.logged('The executor runs'))?.['opsUrl'])
    here.redis.process.kill('SIGSTOP')
    await expectAllRetryLater(here.client)
    await until('the executor has noticed', async () => (await fetch(`${opsUrl}/readyz`)).status === 503)
    here.redis.process.kill('SIGCONT')
    await until('the API is back', () => isBack(here.client), RECOVERED_MS)
    const before = load.accepted.length
    await until('the load goes on', () => load.accepted.length > before + 100)
    await load.stop()
    // A pause shorter than the lease costs no delivery at all.
    await expectOncePerJob(here, { accepted: load.accepted, path: '/load', faults: 0 })
    expect(here.target.arrivals('/load').length).toBeGreaterThanOrEqual(load.accepted.length)
    // A connection that waits for no answer is not taken for a silent one.
    expect([listener, await hintsConnection(here.redis)]).toEqual([expect.any(String), listener])
    await here.close()
  })

  test('is full, pushes are refused, running jobs end, and it goes on when there is room', async () => {
    const here = await startInstallation()
    const held = latch()
    here.target.route('/held', held.answering)
    const push = () => ({
      ...LONG,
      url: `${here.target.url}/held`,
      callback_url: `${here.target.url}/cb`,
    })
    const running = await Promise.all(Array.from({ length: 20 }, () => here.client.push(push())))
    const delayed = await here.client.push({ ...push(), delay: 2 })
    await here.target.arrived('/held', 20)
    await here.redis.client.config('SET', 'maxmemory', '1mb')
    const refused = await here.client.send('POST', '/api/jobs', push())
    expectRetryLater(refused)
    expect(refused.body).toEqual({ error: 'The job store is full' })
    expectRetryLater(await here.client.send('POST', '/api/jobs', { ...push(), queue: 'a new one' }))
    expect(await here.client.queueNamed('held')).toMatchObject({
      // The delayed one as well, on a slow machine.
      counts: { processing: expect.toBeOneOf([20, 21]) as number },
    })
    held.open()
    for (const { job_id: id } of [...running, delayed]) {
      expect(await here.client.ended(id)).toMatchObject({ final_status: 'success' })
    }
    await here.target.arrived('/cb', 21)
    expect((await here.client.send('POST', '/api/jobs', push())).status).toBe(503)
    await here.redis.client.config('SET', 'maxmemory', '0')
    // An API that has just read how full Redis is goes by that for a moment.
    const after = await until('there is room', async () => {
      const { status, body } = await here.client.send<ScheduledJob>('POST', '/api/jobs', push())
      return status === 201 ? body : null
    })
    expect(await here.client.ended(after.job_id)).toMatchObject({ final_status: 'success' })
    await here.close()
  })

  test('is full, roles begin all the same, and what was accepted runs', async () => {
    const here = await startInstallation({ executors: 0 })
    const ids = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const pushed = await here.client.push({ queue: 'work', url: `${here.target.url}/job` })
        return pushed.job_id
      }),
    )
    await here.redis.client.config('SET', 'maxmemory', '1mb')
    await here.startExecutor()
    const { client } = await here.startApi()
    for (const id of ids) expect(await client.ended(id)).toMatchObject({ final_status: 'success' })
    expectRetryLater(await client.send('POST', '/api/jobs', { queue: 'work', url: here.target.url }))
    await here.close()
  })

  test('cannot be reached from one executor, another takes its jobs', async () => {
    const here = await startInstallation({ executors: 0 })
    const proxy = await startTcpProxy(here.redis.port)
    const cutOff = await here.startExecutor({ PUNCTUAL_REDIS_URL: proxy.url })
    const held = latch({ body: 'too late' })
    here.target.route('/held', (arrival, nth) => (nth === 1 ? held.answering(arrival, nth) : {}))
    const pushes = await Promise.all(
      Array.from({ length: 10 }, () => here.client.push({ ...LONG, url: `${here.target.url}/held` })),
    )
    await here.target.arrived('/held', 10)
    const other = await here.startExecutor()
    proxy.blackHole()
    await cutOff.logged('The lease of a shard was lost; its calls are aborted and their results discarded')
    await until('its calls are cut', () => here.target.openNow() === 0)
    // It stops itself before the others take over: never two calls of a job at once.
    expect(here.target.arrivals('/held')).toHaveLength(10)
    for (const { job_id: id } of pushes) {
      expect(await here.client.ended(id, RECOVERED_MS)).toMatchObject({
        final_status: 'success',
        chain: [{}],
      })
    }
    expect(here.target.arrivals('/held')).toHaveLength(20)
    const lines = cutOff.log.length
    proxy.heal()
    await cutOff.logged('The executor holds its leases', { after: lines, timeoutMs: RECOVERED_MS })
    other.signal('SIGKILL')
    const last = await here.client.push({ queue: 'held', url: `${here.target.url}/last` })
    expect(await here.client.ended(last.job_id)).toMatchObject({ final_status: 'success' })
    await here.close()
    await proxy.close()
  })

  test('cannot be reached from the API, it says so in time', async () => {
    const here = await startInstallation()
    const proxy = await startTcpProxy(here.redis.port)
    const { client } = await here.startApi({ PUNCTUAL_REDIS_URL: proxy.url })
    for (const fault of [() => proxy.blackHole(), () => proxy.hold()]) {
      const id = await pushedWhenTaken(client, `${here.target.url}/job`)
      expect(await client.ended(id)).toMatchObject({ final_status: 'success' })
      fault()
      await expectAllRetryLater(client)
      proxy.release()
      proxy.heal()
      await until('it is back', () => isBack(client), RECOVERED_MS)
    }
    await here.close()
    await proxy.close()
  })

  test('is silent on the connections there are, API and executor turn to new ones', async () => {
    const here = await startInstallation({ executors: 0 })
    const proxy = await startTcpProxy(here.redis.port)
    const through = { PUNCTUAL_REDIS_URL: proxy.url }
    const [{ client }, executor] = await Promise.all([here.startApi(through), here.startExecutor(through)])
    const push = () => pushedWhenTaken(client, `${here.target.url}/job`)
    expect(await client.ended(await push())).toMatchObject({ final_status: 'success' })
    proxy.forgetAll()
    await expectAllRetryLater(client)
    expect(await client.ended(await push(), RECOVERED_MS)).toMatchObject({ final_status: 'success' })
    // In time for the leases: nothing that runs is cut.
    const lost = 'The lease of a shard was lost; its calls are aborted and their results discarded'
    expect(executor.log.filter(({ msg }) => msg === lost)).toEqual([])
    await here.close()
    await proxy.close()
  })

  test('is slow and drops connections in the middle of answers, each job still runs once', async () => {
    const here = await startInstallation({ executors: 0 })
    const proxy = await startTcpProxy(here.redis.port)
    const { client, program } = await here.startApi({ PUNCTUAL_REDIS_URL: proxy.url })
    await here.startExecutor({ PUNCTUAL_REDIS_URL: proxy.url })
    proxy.delay(30)
    const ids: number[] = []
    for (let round = 0; round < 12; round += 1) {
      proxy.cutAfter(20 + round * 157)
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          client.send<{ job_id: number }>(
            'POST',
            '/api/jobs',
            { queue: `q-${i % 5}`, url: `${here.target.url}/job` },
            { 'idempotency-key': `${round}-${i}` },
          ),
        ),
      )
      expect(complaintsAbout(program)).toEqual([])
      for (const answer of answers) {
        if (answer.status === 201) ids.push(answer.body.job_id)
        else expectRetryLater(answer)
      }
    }
    expect(ids.length).toBeGreaterThan(200)
    proxy.delay(0)
    await expectOncePerJob(here, { accepted: ids, path: '/job', faults: 0 })
    await here.close()
    await proxy.close()
  })

  test('loses all its data, every role ends and says so, and begins anew on what is there', async () => {
    const here = await startInstallation({ executorEnv: { PUNCTUAL_GRACE_SECONDS: '1' } })
    here.target.route('/held', hang)
    const push = (client: ApiClient, path: string) =>
      client.push({
        queue: 'work',
        url: `${here.target.url}${path}`,
        callback_url: `${here.target.url}/cb`,
      })
    const lost = await push(here.client, '/held')
    await here.target.arrived('/held')
    await here.redis.client.flushall()
    const said =
      'punctual: Redis has lost its data, or another Redis took its place: earlier jobs and queues are gone. ' +
      'After a restart this role works on the new data.'
    for (const program of [here.api.program, here.executors[0] as Program]) {
      expect(await program.exited).toEqual({ code: 1, signal: null })
      expect(program.errorLines).toEqual([said])
    }
    const { client } = await here.startApi()
    await here.startExecutor()
    expect((await client.send('GET', `/api/jobs/${lost.job_id}`)).status).toBe(404)
    const { job_id: id } = await push(client, '/after')
    expect(await client.ended(id, RECOVERED_MS)).toMatchObject({ final_status: 'success' })
    await here.target.arrived('/cb', 1, RECOVERED_MS)
    // An API that hears of the loss before it ends tells of the job as well.
    const errors = ['The role ends', 'Redis came back with less than it had answered']
    await here.close({ errors, errorLines: [said] })
    expect(here.target.arrivals('/held')).toHaveLength(1)
  })

  test('has forgotten its scripts, they are sent again', async () => {
    const here = await startInstallation()
    for (let round = 0; round < 3; round += 1) {
      await here.redis.client.script('FLUSH')
      const job = await here.client.push({ queue: 'work', url: `${here.target.url}/job`, delay: round % 2 })
      expect(await here.client.ended(job.job_id)).toMatchObject({ final_status: 'success' })
    }
    await here.close()
  })
})
