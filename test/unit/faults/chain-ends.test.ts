import { expect, test } from 'vitest'
import { readChainEnds } from '../../faults/checker/chain-ends.ts'
import { PUSH_HEADER } from '../../faults/load/push-mix.ts'
import type { PushRecord } from '../../faults/load/push-record.ts'
import type { ApiClient } from '../../support/servers/api-client.ts'

const PUSH = { draw: { n: 7 }, jobId: 64, status: 201 } as PushRecord
const UNAVAILABLE = { status: 503, body: { error: 'Redis does not answer' } }

function answerOf(finalStatus: 'success' | 'retrying', push = 7) {
  const chain = [{ attempt_number: 1, started_at: '2026-11-30T12:00:00.000Z' }]
  return { status: 200, body: { headers: { [PUSH_HEADER]: String(push) }, final_status: finalStatus, chain } }
}

/** Gives these answers one after the other, and the last one again and again. */
function clientOf(...answers: ReadonlyArray<{ status: number; body: object }>): ApiClient {
  let asked = 0
  const send = () => Promise.resolve(answers[Math.min(asked++, answers.length - 1)])
  return { send } as unknown as ApiClient
}

const endOf = async (client: ApiClient) => (await readChainEnds(client, [PUSH], 0)).get(7)?.finalStatus

test('a chain that had not ended is read again, even when the first reads took all the time', async () => {
  expect(await endOf(clientOf(answerOf('retrying'), answerOf('success')))).toBe('success')
  expect(await endOf(clientOf(UNAVAILABLE, answerOf('success')))).toBe('success')
})

test('a chain that goes on is told as it stands, and a job that is gone or another is not', async () => {
  expect(await endOf(clientOf(answerOf('retrying')))).toBe(null)
  expect(await endOf(clientOf({ status: 404, body: {} }))).toBe(undefined)
  expect(await endOf(clientOf(answerOf('success', 8)))).toBe(undefined)
})

test('an API that does not tell is no proof of a lost job', async () => {
  await expect(readChainEnds(clientOf(UNAVAILABLE), [PUSH], 0)).rejects.toThrow(
    '1 chains could not be read: job 64 is answered 503 {"error":"Redis does not answer"}',
  )
})
