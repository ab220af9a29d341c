import assert from 'node:assert/strict'
import { beforeEach } from 'vitest'
import { setClockHold } from '../../../src/redis/base/engine/clock-hold.ts'
import type { Engine } from '../../../src/redis/base/engine/engine.ts'
import { ClockWatch } from '../../../src/redis/watch/clock-watch.ts'
import { pushAll } from '../../support/engine/model-executor.ts'
import { openWorld, type World } from '../../support/engine/model-world.ts'
import { quietLogger, quietMetrics } from '../../support/quiet.ts'
import type { TestRedis } from '../../support/servers/redis-server.ts'
import { test } from '../../support/servers/shared-redis.ts'

let redis: TestRedis
let world: World

test.beforeAll(({ emptyRedis }) => {
  redis = emptyRedis
})
beforeEach(async () => {
  world = await openWorld(redis, { shards: 1 })
  return () => world.close()
})

function watched() {
  const lines: Array<readonly [string, Record<string, unknown>]> = []
  const behind: number[] = []
  const note = (message: string, fields: Record<string, unknown> = {}) => void lines.push([message, fields])
  const engine: Engine = {
    ...world.engine,
    logger: { ...quietLogger, error: note, info: note },
    metrics: { ...quietMetrics, clockBehind: (seconds) => void behind.push(seconds) },
  }
  return { lines, behind, look: () => new ClockWatch(engine, { after: () => () => undefined }), engine }
}

test('a clock that was set back is told at each look, before and after a step, until it has caught up', async () => {
  const { lines, behind, look } = watched()
  const watch = look()
  await pushAll(world.newIntake(), 1)
  const latest = new Date(world.clock.wallMs).toISOString()
  await watch.look()
  world.clock.jump(-3_600_000)
  await watch.look()
  await pushAll(world.newIntake(), 1)
  world.clock.advance(60_000)
  await watch.look()
  world.clock.advance(3_540_000)
  await watch.look()
  await watch.look()
  assert.deepEqual(behind, [0, 3_600, 3_540, 0, 0])
  const [first, second, third] = lines
  assert.equal(lines.length, 3)
  for (const line of [first, second]) {
    assert.equal(line?.[0], 'The clock of Redis was set back: jobs and crons wait')
    assert.equal(line[1]['until'], latest)
  }
  assert.equal(third?.[0], 'The clock of Redis has caught up: jobs and crons go on')
})

test('a clock that is held is told at each look, and nothing waits for it', async () => {
  const { lines, behind, look } = watched()
  const watch = look()
  await setClockHold(world.engine, 3_600_000)
  await pushAll(world.newIntake(), 1)
  world.clock.jump(-1_800_000)
  await pushAll(world.newIntake(), 1)
  await watch.look()
  const [line] = lines
  assert.deepEqual(behind, [0])
  assert.equal(line?.[0], 'The clock of Redis was set back: time is held where it was')
  assert.equal(line[1]['heldSeconds'], 1_800)
})

test('a clock that steps bridge, one that was set forward and one without a step are not told of', async () => {
  const { lines, behind, look } = watched()
  const watch = look()
  await watch.look()
  await pushAll(world.newIntake(), 1)
  world.clock.jump(-5_000)
  await watch.look()
  world.clock.jump(3_600_000)
  await watch.look()
  assert.deepEqual([behind, lines], [[0, 0, 0], []])
})
