import { afterAll, beforeAll, expect, test } from 'vitest'
import { startInstallation, TOKEN, type Installation } from '../../../support/engine/installation.ts'
import { until } from '../../../support/until.ts'

/** Within which an open page learns of a change. */
const TOLD_MS = 3_000

let here: Installation
beforeAll(async () => {
  here = await startInstallation({ executors: 1, apiEnv: { PUNCTUAL_SHUTDOWN_DELAY_SECONDS: '5' } })
})
afterAll(() => here.close())

interface Following {
  readonly kinds: Set<string>
  figures(): Record<string, number | null>
  names(): string[]
  hasEnded(): boolean
  end(): void
}

async function follow(): Promise<Following> {
  const abort = new AbortController()
  const headers = { authorization: `Bearer ${TOKEN}` }
  const response = await fetch(`${here.api.url}/api/events`, { headers, signal: abort.signal })
  expect(response.status).toBe(200)
  let [text, hasEnded] = ['', false]
  void (async () => {
    for await (const piece of response.body ?? []) text += Buffer.from(piece).toString()
  })()
    .catch(() => undefined)
    .finally(() => (hasEnded = true))
  const dataOf = (name: string) =>
    [...text.matchAll(new RegExp(`event: ${name}\\ndata: (.*)\\n\\n`, 'g'))].map(
      ([, json = '']) => JSON.parse(json) as Record<string, unknown>,
    )
  await until('figures', async () => dataOf('figures').length > 0)
  return {
    get kinds() {
      return new Set(dataOf('changed').flatMap(({ kinds }) => kinds as string[]))
    },
    figures: () => (dataOf('figures').at(-1) ?? {}) as Record<string, number | null>,
    names: () => [...text.matchAll(/event: (\w+)/g)].map(([, name = '']) => name),
    hasEnded: () => hasEnded,
    end: () => abort.abort(),
  }
}

test('an open page learns what changes, and how much there is to do', async () => {
  const page = await follow()
  expect(page.figures()).toMatchObject({ pending: 0, in_flight: 0, oldest_startable_seconds: null })
  const { queue_id: id } = await here.client.push({ queue: 'live', url: here.target.url, delay: 600 })
  await until('a push', async () => page.kinds.has('jobs') && page.kinds.has('queues'), TOLD_MS)
  expect(page.figures()['pending']).toBe(1)
  expect(page.kinds.has('crons')).toBe(false)
  await here.client.send('POST', `/api/queues/${id}/pause`)
  await until('an edit', async () => page.kinds.has('audit'), TOLD_MS)
  page.end()
})

test('it learns that the store is away, and that it is back', async () => {
  const page = await follow()
  here.redis.process.kill('SIGSTOP')
  await until('it is away', async () => page.names().at(-1) === 'away', 15_000)
  here.redis.process.kill('SIGCONT')
  await until('it is back', async () => page.names().at(-1) !== 'away', 15_000)
  expect(page.names().filter((name) => name === 'away')).toHaveLength(1)
  page.end()
})

test('a token for some queues gets no figures of all', async () => {
  const own = await here.client.send<{ token: string }>('POST', '/api/tokens', {
    name: 'narrow',
    scopes: ['read'],
    queues: ['live'],
  })
  const headers = { authorization: `Bearer ${own.body.token}` }
  const statusOf = async (path: string) => (await fetch(`${here.api.url}${path}`, { headers })).status
  await until('the token is known', async () => (await statusOf('/api/me')) === 200)
  expect(await statusOf('/api/events')).toBe(403)
})

test('streams end at once when the API is to stop, although it serves on for a while', async () => {
  const page = await follow()
  here.api.program.signal('SIGTERM')
  await until('the stream has ended', async () => page.hasEnded(), 2_000)
  expect(here.api.program.isRunning()).toBe(true)
})
