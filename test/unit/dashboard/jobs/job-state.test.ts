import { expect, test } from 'vitest'
import { stateOf } from '../../../../dashboard/src/features/jobs/job-state.ts'
import { attemptOf, iso, NOW } from './chains.ts'

test.each([
  [{}, 'Ready'],
  [{ scheduled_at: iso(1) }, 'Not due'],
  [{ status: 'processing' }, 'In flight'],
  [{ status: 'completed', final_status: 'success' }, 'Succeeded'],
  [{ status: 'failed', final_status: 'retrying', has_pending_retry: true }, 'Retrying'],
  [{ status: 'failed', final_status: 'success' }, 'Succeeded on retry'],
  [{ status: 'failed', final_status: 'failed_no_retries' }, 'Failed'],
  [{ status: 'failed', final_status: 'dead_lettered' }, 'Dead letter'],
  [{ status: 'failed', final_status: 'dead_lettered', replayed_as: 9 }, 'Replayed'],
] as const)('%j is told as %s', (given, label) => {
  expect(stateOf(attemptOf(given), NOW).label).toBe(label)
})
