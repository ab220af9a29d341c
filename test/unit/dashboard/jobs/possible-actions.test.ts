import { expect, test } from 'vitest'
import {
  actionsOfStatus,
  possibleActions,
} from '../../../../dashboard/src/features/jobs/list/possible-actions.ts'

const NOW_MS = Date.UTC(2026, 10, 23)
const job = (id: number, given: object) => ({
  job_id: id,
  status: 'failed' as const,
  final_status: 'failed_no_retries' as const,
  has_pending_retry: false,
  replayed_as: null,
  scheduled_at: '2026-11-22T00:00:00.000+00:00',
  ...given,
})
const dead = (id: number) => job(id, { final_status: 'dead_lettered' })
const offered = (...jobs: ReadonlyArray<ReturnType<typeof job>>) =>
  possibleActions(jobs, NOW_MS).map(({ action, ids }) => `${action} ${ids.join()}`)

test('dead letters are replayed or purged', () => {
  expect(offered(dead(1), dead(2))).toEqual(['replay 1,2', 'purge 1,2'])
})

test('of jobs in several states, each action names those that it is for', () => {
  const due = job(3, { status: 'pending', final_status: null })
  const later = job(4, {
    status: 'pending',
    final_status: null,
    scheduled_at: '2026-11-24T00:00:00.000+00:00',
  })
  const succeeded = job(5, { status: 'completed', final_status: 'success' })
  expect(offered(dead(1), job(2, {}), due, later, succeeded)).toEqual([
    'retry 1,2',
    'replay 1',
    'fire 4',
    'cancel 3,4',
    'delete 1,2,3,4,5',
  ])
})

test('what goes on or was made anew is left alone', () => {
  expect(offered(job(1, { has_pending_retry: true, final_status: 'retrying' }))).toEqual([])
  expect(offered(job(1, { status: 'processing', final_status: null }))).toEqual([])
  expect(offered(job(1, { final_status: 'dead_lettered', replayed_as: 9 }))).toEqual(['delete 1'])
})

test('a filter by status offers what that status allows', () => {
  expect(actionsOfStatus('pending')).toEqual(['fire', 'cancel'])
  expect(actionsOfStatus('processing')).toEqual([])
  expect(actionsOfStatus(undefined)).toContain('retry')
})
