import { describe, expect, test } from 'vitest'
import { cliError, UNAVAILABLE } from '../../../../src/cli/cli-error.ts'
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

  test('bears faults that pass, as part of the time', async () => {
    const { api } = apiOf([null, 'success'])
    let left = 3
    const send = async (...given: Parameters<Api['send']>) => {
      left -= 1
      if (left >= 0) throw cliError('the API is away', UNAVAILABLE)
      return api.send(...given)
    }
    expect(await waited({ send } as Api, 2)).toEqual({ end: 'success', sleptMs: 2000 })
    left = 3
    await expect(waited({ send } as Api, 1)).rejects.toThrow('the API is away')
    left = 6
    await expect(waited({ send } as Api, 60)).rejects.toThrow('the API is away')
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
