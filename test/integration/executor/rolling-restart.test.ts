import { Agent, request as send } from 'node:http'
import { describe, expect, test } from 'vitest'
import { startInstallation, TOKEN } from '../../support/engine/installation.ts'
import { hang } from '../../support/targets/target.ts'
import { until } from '../../support/until.ts'

const PUSH_EVERY_MS = 10
/** As many pushes still reach a stopping API: the routing notices late. */
const ROUTED_ON = 20
/** Ample for that. */
const SHUTDOWN_DELAY_SECONDS = '5'
/** More than the 10 s that calls get by default. */
const GRACE_SECONDS = 12

/** Pushes over kept connections to every API there is, as clients of a Service do; sends nothing twice. */
function startPushing(endpoints: ReadonlySet<string>, body: object) {
  const agents = new Map<string, Agent>()
  const ends: string[] = []
  let sent = 0

  function push(url: string): void {
    const agent = agents.get(url) ?? new Agent({ keepAlive: true, scheduling: 'fifo' })
    agents.set(url, agent)
    const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' }
    const request = send(`${url}/api/jobs`, { method: 'POST', agent, headers }, (response) => {
      response.resume()
      response.once('end', () => ends.push(`${response.statusCode} ${url}`))
      response.once('error', (error) => ends.push(`${error.message} ${url}`))
    })
    request.once('error', (error) => ends.push(`${error.message} ${url}`))
    request.end(JSON.stringify(body))
  }

  /** New connections go where the routing leads, those that are kept stay where they are. */
  function next(): string {
    const kept = [...agents].filter(([, agent]) => Object.keys(agent.freeSockets).length > 0)
    const urls = [...new Set([...endpoints, ...kept.map(([url]) => url)])]
    return urls[sent % urls.length] ?? ''
  }

  const timer = setInterval(() => {
    push(next())
    sent += 1
  }, PUSH_EVERY_MS)
  return {
    /** How each push ended, and where. */
    ends,
    answeredBy: (url: string) => ends.filter((end) => end === `201 ${url}`).length,
    stop: async () => {
      clearInterval(timer)
      await until('every push has ended', () => ends.length === sent)
      for (const agent of agents.values()) agent.destroy()
    },
  }
}

describe.concurrent('a stop', () => {
  test('of every API and executor in turn fails no push, and every job is delivered once', async () => {
    const drain = { PUNCTUAL_SHUTDOWN_DELAY_SECONDS: SHUTDOWN_DELAY_SECONDS }
    const here = await startInstallation({ apiEnv: drain })
    const endpoints = new Set([here.api.url])
    const pushing = startPushing(endpoints, { queue: 'work', url: `${here.target.url}/job` })
    const second = await here.startApi(drain)
    endpoints.add(second.url)
    await until('both answer', () => [...endpoints].every((url) => pushing.answeredBy(url) >= 20))

    here.api.program.signal('SIGTERM')
    await here.api.program.logged('Stopping: no new work is taken, running calls get a moment')
    const before = pushing.answeredBy(here.api.url)
    await until('it has been routed to', () => pushing.answeredBy(here.api.url) >= before + ROUTED_ON)
    endpoints.delete(here.api.url)
    expect(await here.api.program.exited).toEqual({ code: 0, signal: null })

    const [first] = here.executors
    await here.startExecutor()
    first?.signal('SIGTERM')
    expect(await first?.exited).toEqual({ code: 0, signal: null })

    await pushing.stop()
    expect(pushing.ends.filter((end) => !end.startsWith('201 '))).toEqual([])
    await here.target.arrived('/job', pushing.ends.length)
    const jobs = here.target.arrivals('/job').map(({ jobId }) => jobId)
    expect([jobs.length, new Set(jobs).size]).toEqual([pushing.ends.length, pushing.ends.length])
    await here.close()
  })

  test('leaves an executor alive and not ready until the calls under way had their grace', async () => {
    const here = await startInstallation({ executors: 0 })
    const executor = await here.startExecutor({ PUNCTUAL_GRACE_SECONDS: String(GRACE_SECONDS) })
    const { opsUrl } = await executor.logged('The executor runs')
    const probe = async (path: string) => {
      const answer = await fetch(`${String(opsUrl)}${path}`)
      return { status: answer.status, text: await answer.text() }
    }
    expect(await probe('/readyz')).toMatchObject({ status: 200 })
    here.target.route('/hangs', (_arrival, nth) => (nth === 1 ? hang() : {}))
    const { job_id: id } = await here.client.push({ queue: 'work', url: `${here.target.url}/hangs` })
    const [call] = await here.target.arrived('/hangs')
    const stoppedAtMs = Date.now()
    executor.signal('SIGTERM')
    await executor.logged('Stopping: no new work is taken, running calls get a moment')
    const ready = await probe('/readyz')
    expect([ready.status, JSON.parse(ready.text)]).toEqual([
      503,
      { status: 'not_ready', checks: { redis: 'ok', leases: 'no leases', loops: 'ok', running: 'stopping' } },
    ])
    expect(await probe('/healthz')).toMatchObject({ status: 200 })
    expect((await probe('/metrics')).text).toContain('punctual_calls_in_flight 1')
    expect(await executor.exited).toEqual({ code: 0, signal: null })
    const closedAtMs = await until('its call is cut', () => call?.closedAtMs)
    expect(closedAtMs - stoppedAtMs).toBeGreaterThan(GRACE_SECONDS * 1000 - 100)
    await here.startExecutor()
    expect(await here.client.ended(id)).toMatchObject({ final_status: 'success', attempt_number: 1 })
    await here.close()
  })
})
