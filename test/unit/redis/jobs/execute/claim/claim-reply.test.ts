import { expect, test } from 'vitest'
import { JobIds } from '../../../../../../src/domain/jobs/job-ids.ts'
import { DEFAULT_QUEUE_SETTINGS } from '../../../../../../src/domain/jobs/queue-settings.ts'
import { readClaim } from '../../../../../../src/redis/jobs/execute/claim/claim-reply.ts'
import { createEngine } from '../../../../../../src/redis/base/engine/engine.ts'
import { encodeRequest } from '../../../../../../src/redis/base/layout/job-record.ts'
import { encodeSettings } from '../../../../../../src/redis/base/layout/queue-record.ts'
import { createShardKeys } from '../../../../../../src/redis/base/layout/keys.ts'
import { SettingsCache } from '../../../../../../src/redis/jobs/execute/claim/settings-cache.ts'
import type { StepRunner } from '../../../../../../src/redis/base/engine/step-runner.ts'
import { jobRequest } from '../../../../../support/engine/engine.ts'
import { quietLogger, quietMetrics } from '../../../../../support/quiet.ts'

const NOW_MS = 1_800_000_000_000
const jobIds = new JobIds(1, '0123456789ab')
const REQUEST = encodeRequest(jobRequest()).inline

function setUp() {
  const told: string[] = []
  const logger = { ...quietLogger, error: (line: string) => void told.push(line) }
  const engine = createEngine({ runner: {} as StepRunner, jobIds, logger, metrics: quietMetrics })
  const cache = new SettingsCache()
  /** One job for each timeout; its settings are not sent where they are not stored. */
  const timeouts = (wanted: readonly number[], isStored = true) => {
    const settings = wanted.map((timeoutSeconds) =>
      encodeSettings({ ...DEFAULT_QUEUE_SETTINGS, timeoutSeconds }),
    )
    const records = settings.flatMap(({ hash }, i) => [
      String(jobIds.idOf(0, i + 1, 1)),
      `${NOW_MS}100030${hash}|${REQUEST}`,
    ])
    const jobs = [1, settings.length, ...records]
    const learnt = settings.flatMap(({ hash, json }) => [hash, isStored ? json : ''])
    const works = readClaim(engine, createShardKeys(0), {
      settings: cache,
      reply: ['ok', String(NOW_MS), '7', '', 0, [], jobs, [1, 'default/emails'], learnt, [], '', []],
      queues: ['1'],
    })
    return works.map((work) => (work.kind === 'job' ? work.settings.timeoutSeconds : null))
  }
  return { timeouts, told }
}

test('jobs have the settings of their claim, however many were known before', () => {
  const { timeouts, told } = setUp()
  const many = Array.from({ length: 9_999 }, (_, i) => 100 + i)
  expect(timeouts(many)).toEqual(many)
  expect(timeouts([1, 2, 3])).toEqual([1, 2, 3])
  expect(told).toEqual([])
})

test('settings that are not stored are those of before, or the defaults', () => {
  const { timeouts, told } = setUp()
  timeouts([5])
  expect(timeouts([5, 6], false)).toEqual([5, DEFAULT_QUEUE_SETTINGS.timeoutSeconds])
  expect(told).toEqual(['A job names settings that are not stored or damaged; defaults are used'])
})
