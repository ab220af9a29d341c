import { expect, test } from 'vitest'
import { DEFAULT_CRON_SETTINGS, type CronSettings } from '../../../../../src/domain/crons/cron.ts'
import {
  definitionIn,
  encodeDefinition,
  requestOfRun,
} from '../../../../../src/redis/base/layout/cron-record.ts'

const PLACE = { team: 'shop', name: 'nightly' }
const USUAL: CronSettings = {
  ...DEFAULT_CRON_SETTINGS,
  displayName: 'nightly',
  url: 'https://example.com/',
  cronExpression: '0 3 * * *',
}
const TICK = { cronId: 7, tickMs: 1_800_000_000_000, isManual: false }

test('a cron that keeps no responses comes back as one, and its runs say so', () => {
  const cron: CronSettings = { ...USUAL, recordResponses: 'none', queue: 'reports' }
  expect(definitionIn(encodeDefinition(PLACE, cron), true)?.settings).toEqual(cron)
  expect(requestOfRun(cron, TICK)).toMatchObject({ recordResponses: 'none' })
})

test('one that says nothing takes no room for it, and leaves it to its queue', () => {
  expect(encodeDefinition(PLACE, USUAL)).toBe('["shop/nightly","https://example.com/","0 3 * * *"]')
  expect(definitionIn(encodeDefinition(PLACE, USUAL), true)?.settings).toEqual(USUAL)
  expect(requestOfRun(USUAL, TICK)).not.toHaveProperty('recordResponses')
})
