import { Cluster, Redis } from 'ioredis'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { absentKeyBeside, createShardKeys } from '../../../../../src/redis/base/layout/keys.ts'
import { loadScripts } from '../../../../../src/redis/steps.ts'
import { createStepRunner } from '../../../../../src/redis/base/engine/step-runner.ts'
import { createFakeClock } from '../../../../support/fake-clock.ts'
import { quietMetrics } from '../../../../support/quiet.ts'

const SCRIPTS = loadScripts()
const { pushedBuckets: pushed, leaderEpoch: epoch } = createShardKeys(0)
const NOSCRIPT = new Error('NOSCRIPT No matching script.')

/** A connection that is never made: what would be sent is noted. */
function setUp(connection: Redis | Cluster, isKnown = true) {
  const evalsha = vi.spyOn(connection, 'evalsha')
  if (isKnown) evalsha.mockResolvedValue('done')
  else evalsha.mockRejectedValue(NOSCRIPT)
  const evaluate = vi.spyOn(connection, 'eval').mockResolvedValue('done')
  const runner = createStepRunner({
    connection,
    scripts: SCRIPTS,
    clock: createFakeClock(),
    metrics: quietMetrics,
  })
  return { runner, evalsha, evaluate }
}

describe('a step is sent', () => {
  const open: Array<{ disconnect(): void }> = []
  const kept = <T extends { disconnect(): void }>(one: T): T => {
    open.push(one)
    return one
  }
  afterEach(() => open.splice(0).forEach((one) => one.disconnect()))

  const cluster = () => kept(new Cluster([{ host: '127.0.0.1', port: 1 }], { lazyConnect: true }))
  const server = () => kept(new Redis({ lazyConnect: true }))

  test('to a Cluster with a key declared that is always absent, behind its own', async () => {
    const { runner, evalsha } = setUp(cluster())
    await runner.run({ name: 'begin_epoch', keys: [pushed, epoch], args: ['7'] })
    const { sha } = SCRIPTS.begin_epoch
    expect(evalsha.mock.calls).toEqual([[sha, 3, pushed, epoch, absentKeyBeside([pushed]), '7']])
  })

  test('by its source with that key too, where the Cluster does not know it yet', async () => {
    const { runner, evaluate } = setUp(cluster(), false)
    await runner.run({ name: 'begin_epoch', keys: [pushed, epoch], args: ['7'] })
    const { source } = SCRIPTS.begin_epoch
    expect(evaluate.mock.calls).toEqual([[source, 3, pushed, epoch, absentKeyBeside([pushed]), '7']])
  })

  test('to one server with its own keys alone', async () => {
    const { runner, evalsha } = setUp(server())
    await runner.run({ name: 'begin_epoch', keys: [pushed, epoch], args: ['7'] })
    expect(evalsha.mock.calls).toEqual([[SCRIPTS.begin_epoch.sha, 2, pushed, epoch, '7']])
  })
})
