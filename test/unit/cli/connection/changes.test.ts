import { expect, test } from 'vitest'
import type { Api } from '../../../../src/cli/connection/api.ts'
import { followChanges } from '../../../../src/cli/connection/changes.ts'
import { until } from '../../../support/until.ts'

/** Streams that the test writes to, in the order in which they were opened. */
function streams(statuses: readonly number[] = []) {
  const opened: ReadableStreamDefaultController<Uint8Array>[] = []
  const events = async (signal: AbortSignal) => {
    const status = statuses[opened.length] ?? 200
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        opened.push(controller)
        signal.addEventListener('abort', () => controller.error(signal.reason))
      },
    })
    return new Response(body, { status })
  }
  return { opened, api: { server: '', events } as unknown as Api }
}

const send = (to: ReadableStreamDefaultController<Uint8Array> | undefined, text: string) =>
  to?.enqueue(new TextEncoder().encode(text))

test('a stream tells when it begins and when something has changed, not when it is kept alive', async () => {
  const { opened, api } = streams()
  const end = new AbortController()
  let changes = 0
  const following = followChanges(api, () => (changes += 1), end.signal)
  await until('it has begun', () => changes === 1)
  send(opened[0], ':\n\n')
  send(opened[0], 'event: changed\ndata: {"kinds":["jobs"]}\n\n')
  await until('it is told', () => changes === 2)
  opened[0]?.close()
  await until('another is opened', () => changes === 3)
  expect(opened).toHaveLength(2)
  end.abort()
  await following
  expect(changes).toBe(3)
})

test('a stream that fails is opened again, and one that is not allowed is not', async () => {
  const { opened, api } = streams([503, 403])
  let changes = 0
  await followChanges(api, () => (changes += 1), new AbortController().signal)
  expect([opened.length, changes]).toEqual([2, 0])
})
