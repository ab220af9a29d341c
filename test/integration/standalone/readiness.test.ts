import { afterAll, expect, onTestFinished, test } from 'vitest'
import { freePort } from '../../support/servers/redis-server.ts'
import { stopProgram } from '../../support/servers/processes.ts'
import { createStandaloneWorld } from '../../support/servers/standalone-world.ts'
import { latch } from '../../support/targets/target.ts'
import { until } from '../../support/until.ts'

const WITH_LATE_PORT = `--import=${new URL('late-port-process.ts', import.meta.url).href}`
/** `loops` and `running` beside them are those of every role. */
const READY = { redis: 'ok', leases: 'ok', api: 'ok' }

const { newFolder, newTarget, run, close } = createStandaloneWorld()
afterAll(close)

test('standalone is ready once its API can be reached, and not before', async () => {
  const [folder, target, port, opsPort] = [newFolder(), await newTarget(), await freePort(), await freePort()]
  const opening = latch()
  target.route('/open', opening.answering)
  onTestFinished(opening.open)
  const program = run(folder, {
    PUNCTUAL_PORT: String(port),
    PUNCTUAL_OPS_PORT: String(opsPort),
    LATE_PORT: String(port),
    LATE_PORT_UNTIL: `${target.url}/open`,
    NODE_OPTIONS: WITH_LATE_PORT,
  })
  const probe = async () => {
    const answer = await fetch(`http://127.0.0.1:${opsPort}/readyz`).catch(() => null)
    return answer && { code: answer.status, ...((await answer.json()) as { checks: typeof READY }) }
  }
  await target.arrived('/open')
  const early = await until('everything else is ready', async () => {
    const answer = await probe()
    return answer?.checks.leases === 'ok' && answer
  })
  expect(early).toMatchObject({ code: 503, checks: { ...READY, api: 'takes no requests yet' } })
  opening.open()
  await program.logged('Standalone runs')
  expect(await probe()).toMatchObject({ code: 200, checks: READY })
  expect(await stopProgram(program)).toEqual([])
})
