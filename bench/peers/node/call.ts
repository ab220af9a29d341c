/** The call of every peer in Node: one shared undici Agent, `request`, the body dumped. */
import { Agent, request } from 'undici'
import type { Push } from './push.ts'

// One origin: a limit of connections is not needed, the pool grows to what the worker uses.
const agent = new Agent({ pipelining: 1, headersTimeout: 300_000, bodyTimeout: 300_000 })

export async function call({ url, payload }: Pick<Push, 'url' | 'payload'>): Promise<number> {
  const { statusCode, body } = await request(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(payload),
    dispatcher: agent,
  })
  await body.dump()
  if (statusCode >= 300) throw new Error(`The target answered ${statusCode}`)
  return statusCode
}
