/**
 * Redis comes back with less than it had: an older copy of all its keys is put in their place, as a restart with an older
 * file or a failover to a replica that lagged does.
 */
import assert from 'node:assert/strict'
import { beforeEach, describe } from 'vitest'
import { AN_ACTOR } from '../../../support/principals.ts'
import type { Alert } from '../../../../src/domain/alerts/alert.ts'
import type { AlertFilter } from '../../../../src/ports/alerts.ts'
import type { Engine } from '../../../../src/redis/base/engine/engine.ts'
import { createAlertStore } from '../../../../src/redis/ledger/alerts/alert-store.ts'
import { createJobIntake } from '../../../../src/redis/jobs/enqueue/job-intake.ts'
import { createJobStore } from '../../../../src/redis/jobs/job-store.ts'
import { AcceptedSteps } from '../../../../src/redis/jobs/losses/accepted-steps.ts'
import { OlderCopyWatch, type NotedTimes } from '../../../../src/redis/jobs/losses/older-copy.ts'
import { LossWatch } from '../../../../src/redis/jobs/losses/loss-watch.ts'
import { createQueueStats } from '../../../../src/redis/jobs/queues/queue-stats.ts'
import { assertClean, pushAll } from '../../../support/engine/model-executor.ts'
import { openWorld, type World } from '../../../support/engine/model-world.ts'
import { newJob } from '../../../support/engine/engine.ts'
import { quietLogger, quietMetrics } from '../../../support/quiet.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'
import { test } from '../../../support/servers/shared-redis.ts'

const TEAM = 'default'
const ANY_ALERT: AlertFilter = {
  type: null,
  reason: null,
  resourceKind: null,
  resourceId: null,
  isRead: null,
  afterMs: null,
  beforeMs: null,
}

describe('jobs that Redis came back without', () => {
  let redis: TestRedis
  let world: World

  test.beforeAll(({ emptyRedis }) => {
    redis = emptyRedis
  })
  beforeEach(async () => {
    world = await openWorld(redis, { shards: 2 })
    return () => world.close()
  })

  /** Takes a copy of all keys; answers what puts it back. */
  async function takeCopy(): Promise<() => Promise<void>> {
    const copied = await Promise.all(
      (await redis.client.keys('*')).map(async (key) => {
        const dump = await redis.client.dumpBuffer(key)
        return { key, dump, ttlMs: Math.max(0, await redis.client.pttl(key)) }
      }),
    )
    return async () => {
      await redis.client.flushall()
      for (const { key, dump, ttlMs } of copied) await redis.client.restore(key, ttlMs, dump)
    }
  }

  /** An API process: what it logs and counts. */
  function newProcess(rowsMax?: number, runner: Engine['runner'] = world.engine.runner) {
    const lines: Array<Record<string, unknown>> = []
    const lost: number[] = []
    const engine: Engine = {
      ...world.engine,
      runner,
      logger: { ...quietLogger, error: (_, fields = {}) => void lines.push(fields) },
      metrics: { ...quietMetrics, jobsLost: (count) => void lost.push(count) },
    }
    const steps = new AcceptedSteps(engine.shards.length, rowsMax)
    const intake = createJobIntake(engine, { nowMs: () => world.clock.monotonicMs, steps })
    const watch = new LossWatch({ engine, steps, clock: { after: () => () => undefined } })
    return { intake, lines, lost, look: () => watch.look() }
  }

  async function alerts(team = TEAM): Promise<readonly Alert[]> {
    const page = await createAlertStore(world.engine).list({
      team,
      filter: ANY_ALERT,
      limit: 1000,
      cursor: null,
    })
    assert.ok(page !== 'bad_cursor')
    return page.alerts
  }

  test('are told by queue, once, and with the times of their pushes', async () => {
    const api = newProcess()
    await pushAll(api.intake, 3, { queue: 'emails' })
    await pushAll(api.intake, 1, { queue: 'bills' })
    const putBack = await takeCopy()
    world.clock.advance(1_000)
    const fromMs = world.clock.wallMs
    await pushAll(api.intake, 5, { queue: 'emails' })
    world.clock.advance(2_000)
    await pushAll(api.intake, 2, { queue: 'emails' })
    await pushAll(api.intake, 4, { queue: 'bills' })
    await putBack()
    world.clock.advance(1_000)

    await api.look()
    assert.deepEqual(api.lost, [11])
    const [line] = api.lines
    assert.equal(line?.['jobs'], 11)
    assert.equal(line['isAll'], true)
    assert.equal(line['acceptedFrom'], new Date(fromMs).toISOString())
    assert.equal(line['acceptedTo'], new Date(fromMs + 2_000).toISOString())
    const told = (await alerts()).map(
      ({ type, reason, resource, count }) => `${type} ${reason} ${resource.kind} ${resource.name} ${count}`,
    )
    assert.deepEqual(told.toSorted(), ['failure jobs_lost queue bills 4', 'failure jobs_lost queue emails 7'])
    const [emails] = await createQueueStats(world.engine).count([{ team: TEAM, name: 'emails' }])
    assert.deepEqual(emails?.lostJobs, { count: 7, fromMs, toMs: fromMs + 2_000, ageMs: 0 })
    await assertClean(world)

    await api.look()
    await pushAll(api.intake, 1)
    await api.look()
    assert.deepEqual([api.lines.length, (await alerts()).length], [1, 2])
  })

  test('are told although others, and the process itself, went on before it looked', async () => {
    const [api, other] = [newProcess(), newProcess()]
    await pushAll(api.intake, 2)
    await pushAll(other.intake, 2)
    const putBack = await takeCopy()
    await pushAll(api.intake, 3)
    await putBack()
    world.clock.advance(60_000)
    await pushAll(other.intake, 10)
    await pushAll(api.intake, 10)
    for (const one of [api, other, api]) await one.look()
    assert.deepEqual([api.lost, other.lost], [[3], []])
  })

  test('are told by each process for itself, in one alert with the sum', async () => {
    const [api, other] = [newProcess(), newProcess()]
    await pushAll(api.intake, 1)
    const putBack = await takeCopy()
    await pushAll(api.intake, 3)
    await pushAll(other.intake, 4)
    await putBack()
    await Promise.all([api.look(), other.look()])
    assert.deepEqual([api.lost, other.lost], [[3], [4]])
    assert.deepEqual(
      (await alerts()).map(({ count }) => count),
      [7],
    )
  })

  test('are told once when the step that tells is sent twice, and of more queues than it takes', async () => {
    const api = newProcess()
    const queues = Array.from({ length: 150 }, (_, i) => `q${i}`)
    for (const queue of queues) await pushAll(api.intake, 1, { queue })
    const putBack = await takeCopy()
    for (const queue of queues) await pushAll(api.intake, 2, { queue })
    await putBack()
    world.faults.resent.add('tell_loss')
    await api.look()
    assert.deepEqual(api.lost, [300])
    const counts = (await alerts()).map(({ count }) => count)
    assert.deepEqual([counts.length, new Set(counts)], [150, new Set([2])])
  })

  test('are told when the answer of the step that tells was lost, by the next look', async () => {
    const api = newProcess()
    await pushAll(api.intake, 1)
    const putBack = await takeCopy()
    await pushAll(api.intake, 3)
    await putBack()
    world.faults.lost.add('tell_loss')
    await api.look()
    await api.look()
    assert.deepEqual(
      (await alerts()).map(({ count }) => count),
      [3],
    )
  })

  test('are told to the team where their queue is gone with them', async () => {
    const api = newProcess()
    await pushAll(api.intake, 1)
    const putBack = await takeCopy()
    await pushAll(api.intake, 2, { queue: 'new' })
    await putBack()
    await api.look()
    const [alert] = await alerts()
    assert.deepEqual(alert?.resource, { kind: 'team', id: null, name: 'default' })
    assert.match(alert.message, /without queue new, or others, and their jobs that were accepted from /)
    assert.equal(alert.count, 2)
    await assertClean(world)
  })

  test('are those that were answered, and no others', async () => {
    const api = newProcess()
    await pushAll(api.intake, 1)
    const putBack = await takeCopy()
    world.faults.lost.add('enqueue')
    const unanswered = api.intake.push(newJob())
    await assert.rejects(unanswered)
    world.faults.resent.add('enqueue')
    await pushAll(api.intake, 2)
    await putBack()
    await api.look()
    assert.deepEqual(api.lost, [2])
  })

  test('are none after a restart without a loss, a lost answer, a cancelled job or a clock set back', async () => {
    const api = newProcess()
    const [first = 0, , last = 0] = await pushAll(api.intake, 3, { start: { delaySeconds: 60 } })
    const jobs = createJobStore(world.engine)
    for (const id of [first, last])
      assert.equal((await jobs.remove(TEAM, id, AN_ACTOR, false)).status, 'removed')
    world.faults.resent.add('enqueue')
    await pushAll(api.intake, 2)
    const putBack = await takeCopy()
    await putBack()
    world.clock.jump(-3_600_000)
    await api.look()
    await pushAll(api.intake, 2)
    await api.look()
    assert.deepEqual([api.lost, api.lines, await alerts()], [[], [], []])
  })

  test('are none when only another server has said so, as a replica that is being filled does', async () => {
    const { runner } = world.engine
    const nothing = () => Promise.resolve(null) as Promise<never>
    const api = newProcess(undefined, { ...runner, read: nothing })
    await pushAll(api.intake, 3)
    await api.look()
    assert.deepEqual([api.lost, api.lines, await alerts()], [[], [], []])
  })

  test('are at least as many as told where more was accepted than is remembered', async () => {
    const api = newProcess(8)
    await pushAll(api.intake, 1)
    const putBack = await takeCopy()
    for (let i = 0; i < 10; i += 1) await pushAll(api.intake, 1)
    await putBack()
    await api.look()
    assert.deepEqual(api.lost, [4])
    assert.equal(api.lines[0]?.['isAll'], false)
  })

  test('are told together when Redis loses again before they were told', async () => {
    const api = newProcess()
    await pushAll(api.intake, 1)
    const putFirstBack = await takeCopy()
    await pushAll(api.intake, 2)
    await putFirstBack()
    await pushAll(api.intake, 1)
    const putSecondBack = await takeCopy()
    await pushAll(api.intake, 4)
    await putSecondBack()
    await pushAll(api.intake, 1)
    await api.look()
    // The one between the losses is in a range of steps with them, and is told with them.
    assert.deepEqual(api.lost, [7])
  })

  test('are told to every team, once, when everything starts again on an older copy', async () => {
    let noted: NotedTimes | null = null
    const lines: Array<Record<string, unknown>> = []
    const engine = {
      ...world.engine,
      logger: { ...quietLogger, error: (_: string, fields = {}) => void lines.push(fields) },
    }
    const restart = async () => {
      const watch = new OlderCopyWatch({
        engine,
        clock: { after: () => () => undefined },
        read: () => Promise.resolve(noted),
        write: (times) => {
          noted = times
          return Promise.resolve()
        },
      })
      await watch.start()
      return watch
    }
    const first = await restart()
    for (const team of ['one', 'two']) await pushAll(world.newIntake(), 1, { team })
    const copyOf = world.clock.wallMs
    const putBack = await takeCopy()
    world.clock.advance(90_000)
    for (const queue of ['a', 'b', 'c', 'd']) await pushAll(world.newIntake(), 1, { team: 'two', queue })
    const answeredUntil = world.clock.wallMs
    await first.stop()
    await (await restart()).stop()
    assert.deepEqual(lines, [], 'nothing is lost yet')
    await putBack()
    world.clock.advance(60_000)
    world.faults.resent.add('tell_loss')
    const second = await restart()
    const [line] = lines
    assert.equal(line?.['copyOf'], new Date(copyOf).toISOString())
    assert.equal(line['answeredUntil'], new Date(answeredUntil).toISOString())
    for (const team of ['one', 'two']) {
      const [alert, ...others] = await alerts(team)
      assert.deepEqual(others, [])
      assert.deepEqual([alert?.count, alert?.resource.kind, alert?.resource.name], [1, 'team', team])
      assert.match(alert?.message ?? '', /an older copy of its data: what it had answered from .* is gone/)
    }
    await second.stop()
    await (await restart()).stop()
    assert.equal(lines.length, 1)
    await assertClean(world)
  })

  test('are told again when Redis comes back with less once more', async () => {
    const api = newProcess()
    await pushAll(api.intake, 1)
    const putBack = await takeCopy()
    for (const count of [2, 3]) {
      await pushAll(api.intake, count)
      await putBack()
      await api.look()
      world.clock.advance(120_000)
    }
    assert.deepEqual(api.lost, [2, 3])
  })
})
