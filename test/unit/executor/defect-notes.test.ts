import { expect, test } from 'vitest'
import { createDefectNotes } from '../../../src/executor/defect-notes.ts'
import { createFakeClock } from '../../support/fake-clock.ts'
import { createRecordingLogger } from './executor-fixture.ts'

test('a defect is counted each time, and logged once a minute for each part and team, with a count', async () => {
  const clock = createFakeClock()
  const logger = createRecordingLogger()
  const counted: string[] = []
  const note = createDefectNotes({
    clock,
    logger,
    metrics: { defectConfined: (part) => counted.push(part) },
  })
  for (let jobId = 0; jobId < 100; jobId += 1) {
    note('end', new Error('WRONGTYPE'), { team: 'shop', jobId })
    await clock.advance(1_000)
  }
  note('end', new Error('WRONGTYPE'), { team: 'office', jobId: 7 })
  note('callback', 'no Error', { team: 'shop', jobId: 8 })
  const message = 'A job could not be ended because of a defect; it is quarantined'
  expect(logger.lines.map(({ message, fields }) => ({ message, ...fields }))).toEqual([
    { message, team: 'shop', jobId: 0, jobs: 1, reason: 'WRONGTYPE' },
    { message, team: 'shop', jobId: 60, jobs: 60, reason: 'WRONGTYPE' },
    { message, team: 'office', jobId: 7, jobs: 1, reason: 'WRONGTYPE' },
    {
      message: 'A job ended without its callback because of a defect',
      team: 'shop',
      jobId: 8,
      jobs: 1,
      reason: 'no Error',
    },
  ])
  expect(counted).toHaveLength(102)
})
