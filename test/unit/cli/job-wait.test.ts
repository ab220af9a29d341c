import { describe, expect, test } from 'vitest'
import type { ApiConnection } from '../../../src/cli/api-connection.ts'
import { awaitEnd } from '../../../src/cli/job-wait.ts'

const PATH = '/api/jobs/16'

/** An API whose job goes through these final statuses, one a look; the last one stays. */
function apiOf(finalStatuses: ReadonlyArray<string | null>, errors: readonly string[] = []) {
  const looks: string[] = []
  const chain = errors.map((error) => ({ error_message: error }))
  const get = async (path: string) => {
    const final_status = finalStatuses[Math.min(looks.length, finalStatuses.length - 1)]
    looks.push(path)
    return JSON.stringify({ status: 'pending', final_status, chain: [...chain, { error_message: null }] })
  }
  const refuse = () => Promise.reject(new Error('only looks are made'))
  const api: ApiConnection = { get, post: refuse, patch: refuse, delete: refuse }
  return { api, looks }
}

async function waited(api: ApiConnection, seconds: number) {
  let pausedMs = 0
  const pause = async (milliseconds: number) => void (pausedMs += milliseconds)
  const { job, text, complaint } = await awaitEnd(api, 16, { seconds, pause })
  expect(JSON.parse(text)).toEqual(job)
  return { end: complaint ?? job.final_status, pausedMs }
}

describe('waiting for a job', () => {
  test('ends with the chain', async () => {
    const { api, looks } = apiOf([null, 'retrying', 'success'])
    expect(await waited(api, 3)).toEqual({ end: 'success', pausedMs: 1000 })
    expect(looks).toEqual([PATH, PATH, PATH])
  })

  test('of none is one look', async () => {
    const { api, looks } = apiOf([null])
    expect(await waited(api, 0)).toEqual({ end: 'job 16 is pending after 0 s', pausedMs: 0 })
    expect(looks).toEqual([PATH])
  })

  test.each([
    ['dead_lettered', 'job 16 ended as dead_lettered: The target answered 503.', 0],
    ['failed_no_retries', 'job 16 ended as failed_no_retries: The target answered 503.', 0],
    ['retrying', 'job 16 is retrying after 3 s: The target answered 503.', 3000],
  ])('complains of %s, with the last reason', async (finalStatus, end, pausedMs) => {
    const { api } = apiOf([finalStatus], ['No answer.', 'The target answered 503.'])
    expect(await waited(api, 3)).toEqual({ end, pausedMs })
  })
})
