/** What a test that fails leaves running, as the setup of each worker ends it. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { identityOf } from '../../../src/standalone/process-identity.ts'
import { startRedis } from '../../support/servers/redis-server.ts'
import { createStandaloneWorld, redisPid } from '../../support/servers/standalone-world.ts'
import { endLeftBehind } from '../../support/servers/worker-processes.ts'
import { until } from '../../support/until.ts'

test('roles, servers and what has lost its parent are ended, but what stays and what is not ours', async ({
  skip,
}) => {
  skip(!existsSync('/proc/self/environ'), 'no /proc on this machine')
  const world = createStandaloneWorld()
  const folder = world.newFolder()
  const [running, killed, kept, left] = await Promise.all([
    world.start(world.newFolder()),
    world.start(folder),
    startRedis(),
    startRedis(),
  ])
  const orphan = redisPid(folder) ?? 0
  killed.program.signal('SIGKILL')
  await killed.program.exited
  const stranger = spawn('sleep', ['600'], { env: {}, detached: true, stdio: 'ignore' })
  endLeftBehind(kept.process.pid)
  await Promise.all([running.program.exited, once(left.process, 'exit')])
  await until('the orphan is gone', () => identityOf(orphan) === null)
  expect(await kept.client.ping()).toBe('PONG')
  expect(stranger.exitCode ?? stranger.signalCode).toBeNull()
  stranger.kill('SIGKILL')
  await Promise.all([kept.stop(), left.stop(), world.close()])
})
