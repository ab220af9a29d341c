import { afterAll, beforeAll, expect, test } from 'vitest'
import { SHED_PLACES_MIN } from '../../../../src/domain/shares/shed-limit.ts'
import { startInstallation, TOKEN, type Installation } from '../../../support/engine/installation.ts'
import { until } from '../../../support/until.ts'

const WITH_STALLS = `--import=${new URL('stalling-process.ts', import.meta.url).href}`
/** A push takes a place for each KiB, so that these take twice as many as everybody has. */
const PAYLOAD = { text: 'x'.repeat(128 * 1024) }
const CLIENTS = SHED_PLACES_MIN / 64
const SHED = 'More pushes arrive than the API can take, try again'
const HEADERS = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' }

let here: Installation
beforeAll(async () => {
  here = await startInstallation({ executors: 0, apiEnv: { NODE_OPTIONS: WITH_STALLS } })
})
afterAll(() => here.close())

interface Answer {
  readonly status: number
  readonly retryAfter: string | null
  readonly body: unknown
}

async function ask(method: 'GET' | 'POST', body?: object): Promise<Answer> {
  const url = `${here.api.url}/api/jobs`
  const answer = await fetch(url, { method, headers: HEADERS, ...(body && { body: JSON.stringify(body) }) })
  return {
    status: answer.status,
    retryAfter: answer.headers.get('retry-after'),
    body: await answer.json(),
  }
}

const push = () =>
  ask('POST', { queue: 'many', url: `${here.target.url}/many`, payload: PAYLOAD, delay: 3_600 })

test('an API whose event loop is too slow refuses pushes, answers reads, and takes all again afterwards', async () => {
  const { program } = here.api
  const answers: Answer[] = []
  let isOver = false
  program.signal('SIGUSR2')
  const clients = Array.from({ length: CLIENTS }, async () => {
    while (!isOver) answers.push(await push())
  })
  await program.logged('Pushes are refused: more come than this API can take')
  const wasShed = ({ body }: Answer) => (body as { error?: string }).error === SHED
  await until('a push is refused', () => answers.some(wasShed))
  expect((await ask('GET')).status).toBe(200)
  isOver = true
  await Promise.all(clients)
  program.signal('SIGUSR2')
  const end = await program.logged('Pushes are taken again')
  // Such a loop may be too late for Redis, too.
  const refused = answers.filter(({ status }) => status !== 201)
  for (const { status, retryAfter } of refused) expect([status, retryAfter]).toEqual([503, '2'])
  expect(Number(end['refused'])).toBe(refused.filter(wasShed).length)
  expect(await push()).toMatchObject({ status: 201 })
})
