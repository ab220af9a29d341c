import { expect, test } from 'vitest'
import { createFaultLog } from '../../../src/outbound/fault-log.ts'
import { createFakeClock } from '../../support/fake-clock.ts'
import { createRecordingLogger } from '../executor/executor-fixture.ts'

test('the first fault is logged at once, all others by one line a minute, none uncounted', async () => {
  const clock = createFakeClock()
  const logger = createRecordingLogger()
  const note = createFaultLog({ clock, logger }, 'Calls failed')
  for (let ms = 0; ms < 180_000; ms += 100) {
    note({ port: ms })
    await clock.advance(100)
  }
  expect(logger.lines).toEqual([
    { level: 'warn', message: 'Calls failed', fields: { calls: 1, port: 0 } },
    { level: 'warn', message: 'Calls failed', fields: { calls: 600, port: 60_000 } },
    { level: 'warn', message: 'Calls failed', fields: { calls: 600, port: 120_000 } },
  ])
})
