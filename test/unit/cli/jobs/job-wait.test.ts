import { describe, expect, test } from 'vitest'
import type { Api } from '../../../../src/cli/connection/api.ts'
import { awaitEnd } from '../../../../src/cli/jobs/job-wait.ts'

const REQUEST = '["readJob",{"job_id":16}]'

/** An API whose job goes through these final statuses, one per request; the last one stays. */
function apiOf(finalStatuses: ReadonlyArray<string | null>, errors: readonly string[] = []) {
  const requests: string[] = []
  const chain = errors.map((error) => ({ error_message: error }))
  const send = async (name: string, given: object) => {
    const final_status = finalStatuses[Math.min(requests.length, finalStatuses.length - 1)]
    requests.push(JSON.stringify([name, given]))
    return { body: { status: 'pending', final_status, chain: [...chain, { error_message: null }] } }
  }
  return { api: { send } as unknown as Api, requests }
}

async function waited(api: Api, seconds: number) {
  let sleptMs = 0
  const sleep = async (milliseconds: number) => void (sleptMs += milliseconds)
  const { answer, failure } = await awaitEnd(api, 16, { seconds, sleep })
  return { end: failure ?? answer.body.final_status, sleptMs }
}

describe('waiting for a job', () => {
  test('ends with the chain', async () => {
    const { api, requests } = apiOf([null, 'retrying', 'success'])
    expect(await waited(api, 3)).toEqual({ end: 'success', sleptMs: 1000 })
    expect(requests).toEqual([REQUEST, REQUEST, REQUEST])
  })

  test('of 0 s is one request', async () => {
    const { api, requests } = apiOf([null])
    expect(await waited(api, 0)).toEqual({ end: 'job 16 is pending after 0 s', sleptMs: 0 })
    expect(requests).toEqual([REQUEST])
  })

  test.each([
    ['dead_lettered', 'job 16 ended as dead_lettered: The target answered 503.', 0],
    ['failed_no_retries', 'job 16 ended as failed_no_retries: The target answered 503.', 0],
    ['retrying', 'job 16 is retrying after 3 s: The target answered 503.', 3000],
  ])('complains of %s, with the last reason', async (finalStatus, end, sleptMs) => {
    const { api } = apiOf([finalStatus], ['No answer.', 'The target answered 503.'])
    expect(await waited(api, 3)).toEqual({ end, sleptMs })
  })
})
