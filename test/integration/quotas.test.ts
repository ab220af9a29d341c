import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { StorageFullError } from '../../src/domain/errors.ts'
import { DEFAULT_QUEUE_SETTINGS } from '../../src/domain/queue-settings.ts'
import { NO_QUOTAS, type TeamQuotas } from '../../src/domain/quotas.ts'
import type { JobIntake, PushResult } from '../../src/ports/job-intake.ts'
import { audit } from '../../src/redis/audit.ts'
import { createJobIntake } from '../../src/redis/job-intake.ts'
import { createQuotaKeeper } from '../../src/redis/quota-keeper.ts'
import { systemClock } from '../../src/telemetry/system-clock.ts'
import { newJob, openEngine, type TestEngine } from '../support/engine.ts'
import { startRedis, type TestRedis } from '../support/redis-server.ts'

const MEGABYTE = JSON.stringify('x'.repeat(1_000_000))
const MEMORY_BYTES = 48 * 1024 ** 2

let redis: TestRedis
let opened: TestEngine
const quotas = new Map<string, TeamQuotas>()

beforeEach(async () => {
  redis = await startRedis({ settings: ['--maxmemory', String(MEMORY_BYTES), '--appendonly', 'no'] })
  opened = await openEngine(redis.url)
  quotas.clear()
})
afterEach(async () => {
  opened.close()
  await redis.stop()
})

/** As each API process has one. */
function newIntake(): JobIntake {
  const { engine } = opened
  const quotasFor = (team: string) => quotas.get(team) ?? NO_QUOTAS
  return createJobIntake(engine, {
    defaultsOf: () => DEFAULT_QUEUE_SETTINGS,
    nowMs: () => systemClock.monotonicMs(),
    quotas: createQuotaKeeper({ engine, clock: systemClock, quotasOf: quotasFor }),
  })
}

/** What became of a push: created, the quota that it met, or full. */
async function outcome(pushed: Promise<PushResult>): Promise<string> {
  try {
    const result = await pushed
    return result.status === 'over_quota' ? result.quota : result.status
  } catch (error) {
    if (error instanceof StorageFullError) return 'full'
    throw error
  }
}

function large(team: string, queue: string): Parameters<JobIntake['push']>[0] {
  return newJob({ team, queue, start: { delaySeconds: 3600 }, request: { payload: MEGABYTE } })
}

async function usedBytes(): Promise<number> {
  return Number(/used_memory:(\d+)/.exec(await redis.client.info('memory'))?.[1])
}

describe('one team that pushes all it can', () => {
  test('meets its share of the memory, and others still push', async () => {
    const intake = newIntake()
    const met = new Map<string, number>()
    for (let i = 0; i < 75; i += 1) {
      const end = await outcome(intake.push(large('greedy', `q${i % 8}`)))
      met.set(end, (met.get(end) ?? 0) + 1)
    }
    expect([...met.keys()].toSorted()).toEqual(['created', 'share'])
    expect(met.get('created')).toBeGreaterThan(15)
    expect(await usedBytes()).toBeLessThan(MEMORY_BYTES * 0.85)
    const other = newIntake()
    expect(await outcome(other.push(large('modest', 'mail')))).toBe('created')
    expect(await outcome(intake.push(newJob({ team: 'modest', queue: 'mail' })))).toBe('created')
    expect(await audit(opened.engine)).toEqual([])
  })
})
