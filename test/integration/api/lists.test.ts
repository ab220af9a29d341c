import { afterAll, beforeAll, expect, test } from 'vitest'
import type {
  CreatedCron,
  CronList,
  JobList,
  QueueList,
} from '../../../clients/typescript/src/generated/wire.ts'
import { createShardKeys } from '../../../src/redis/base/layout/keys.ts'
import { commandsDuring } from '../../support/servers/command-counts.ts'
import { startInstallation, type Installation } from '../../support/engine/installation.ts'

/** Of an installation that does not say. */
const SHARDS = 4
const OTHERS = 20_000

let here: Installation

beforeAll(async () => {
  // Nothing runs, so that all that Redis is asked for is a list's.
  here = await startInstallation({ executors: 0 })
})
afterAll(() => here.close())

/** Names of other teams, as pushes and crons would have left them in the first shard. */
async function addOthers(): Promise<void> {
  const { queueIds: names, cronIds: kn, teamQueues: qnOf, teamCrons: knOf } = createShardKeys(0)
  const pipeline = here.redis.client.pipeline()
  for (let i = 0; i < OTHERS; i += 1) {
    pipeline.hset(names, `other/queue-${i}`, String(1_000_000 + i)).zadd(qnOf('other'), 0, `queue-${i}`)
    pipeline.hset(kn, `other/cron-${i}`, String(1_000_000 + i)).zadd(knOf('other'), 0, `cron-${i}`)
  }
  await pipeline.exec()
}

async function removeOthers(): Promise<void> {
  const { queueIds: names, cronIds: kn, teamQueues: qnOf, teamCrons: knOf } = createShardKeys(0)
  const pipeline = here.redis.client.pipeline()
  for (let i = 0; i < OTHERS; i += 1) pipeline.hdel(names, `other/queue-${i}`).hdel(kn, `other/cron-${i}`)
  await pipeline.del(qnOf('other'), knOf('other')).exec()
}

test('lists of a team with one queue cost the same among 20,000 names of others', async () => {
  const { url } = here.target
  const { job_id } = await here.client.push({ queue: 'mine', url, delay: 600 })
  const cron = { name: 'nightly', url, cron_expression: '0 0 1 1 *' }
  expect((await here.client.send('POST', '/api/crons', cron)).status).toBe(201)
  const lists = async () => {
    const { body: queues } = await here.client.send<QueueList>('GET', '/api/queues')
    expect(queues.queues.map(({ name }) => name)).toEqual(['mine'])
    const { body: jobs } = await here.client.send<JobList>('GET', '/api/jobs')
    expect(jobs.jobs.map((job) => job.job_id)).toEqual([job_id])
    const { body: crons } = await here.client.send<CronList>('GET', '/api/crons')
    expect(crons.crons.map(({ name }) => name)).toEqual(['nightly'])
  }
  // What a role does beside it now and then are plain reads of other kinds.
  const asked = async () => {
    const {
      evalsha = 0,
      zrange = 0,
      hscan = 0,
      scan = 0,
      zscan = 0,
    } = await commandsDuring(here.redis.client, lists)
    return { evalsha, zrange, hscan, scan, zscan }
  }
  await lists()
  const alone = await asked()
  await addOthers()
  const among = await asked()
  await removeOthers()
  expect(among).toEqual(alone)
  // Names in each shard for each list, and rows where there are some; one look at the jobs of the one queue.
  expect(alone).toEqual({ evalsha: 3 * SHARDS + 2, zrange: 3 * SHARDS, hscan: 1, scan: 0, zscan: 0 })
})

test('jobs that have not ended come by due time, page after page', async () => {
  const { url } = here.target
  const delays = [3_600, 50, 900, 75, 7_200, 61, 59, 300]
  const due = new Map<number, number>()
  for (const delay of delays) due.set((await here.client.push({ queue: 'order', url, delay })).job_id, delay)
  const found: number[] = []
  let cursor: string | null = null
  do {
    const query: string = cursor === null ? '' : `&cursor=${cursor}`
    const { body }: { body: JobList } = await here.client.send<JobList>(
      'GET',
      `/api/jobs?queue=order&limit=3${query}`,
    )
    found.push(...body.jobs.map(({ job_id }) => job_id))
    cursor = body.next_cursor
  } while (cursor !== null)
  expect(found.map((id) => due.get(id))).toEqual(delays.toSorted((a, b) => a - b))
})

test('a cursor leads on under the filters of its list alone', async () => {
  const { url } = here.target
  const client = await here.clientOfTeam('cursors')
  for (const queue of ['a', 'a', 'b', 'b']) await client.push({ queue, url, delay: 600 })
  const crons: number[] = []
  for (const name of ['one', 'two']) {
    const cron = { name, url, cron_expression: '0 0 1 1 *' }
    crons.push((await client.send<CreatedCron>('POST', '/api/crons', cron)).body.id)
  }
  const [one = 0, two = 0] = crons
  for (const id of [one, one, two, two]) await client.send('POST', `/api/crons/${id}/run`)

  const lists = [
    ['/api/jobs?', '/api/jobs?status=pending', '/api/jobs?queue=a', '/api/jobs?queue=b'],
    ['/api/jobs?host=127.0.0.1', '/api/jobs?text=127', '/api/jobs?created_after=2026-01-01T00:00:00Z'],
    ['/api/queues?'],
    ['/api/crons?'],
    [`/api/crons/${one}/runs?`, `/api/crons/${two}/runs?`],
  ].flat()
  const cursors = new Map<string, string>()
  for (const list of lists) {
    const { body } = await client.send<JobList>('GET', `${list}&limit=1`)
    cursors.set(list, body.next_cursor ?? '')
  }
  const text = 'The cursor field must be the next_cursor of this list under the same filters.'
  const refused = { status: 422, body: { message: text, errors: { cursor: [text] } } }
  for (const [made, cursor] of cursors) {
    for (const list of lists) {
      const answer = await client.send('GET', `${list}&limit=2&cursor=${cursor}`)
      expect([list, answer]).toMatchObject([list, list === made ? { status: 200 } : refused])
    }
    // Another team's queues and crons may have the same names.
    if (made.endsWith('runs?')) continue
    expect(await here.client.send('GET', `${made}&cursor=${cursor}`)).toMatchObject(refused)
  }
})

test('a queue is found by its name alone', async () => {
  const { url } = here.target
  const client = await here.clientOfTeam('namers')
  const names = ['a', 'a b', '12', 'ä&=']
  const ids = new Map<string, number>()
  for (const queue of names) ids.set(queue, (await client.push({ queue, url, delay: 600 })).queue_id)
  const named = (name: string, more = '') =>
    client.send<QueueList>('GET', `/api/queues?name=${encodeURIComponent(name)}${more}`)
  for (const [name, id] of ids) {
    const { body } = await named(name, '&limit=1')
    expect([body.queues.map(({ queue_id }) => queue_id), body.next_cursor]).toEqual([[id], null])
  }
  expect((await named('A')).body).toMatchObject({ queues: [], next_cursor: null })
  const { body } = await client.send<QueueList>('GET', '/api/queues?limit=1')
  expect((await named('a', `&cursor=${body.next_cursor}`)).status).toBe(422)
  expect((await named('')).status).toBe(422)
  // A name belongs to its team.
  expect((await here.client.send<QueueList>('GET', '/api/queues?name=ä%26%3D')).body.queues).toEqual([])
})

test('jobs are found by what was pushed, and the answer says how many were looked at', async () => {
  const { url } = here.target
  const client = await here.clientOfTeam('finders')
  const payload = (text: string) => ({ text, filling: 'f'.repeat(text === 'large' ? 9_000 : 1) })
  const ids: number[] = []
  for (const [text, tenant] of [
    ['Grüße', 'acme'],
    ['a/b "c"', 'acme'],
    ['large', 'else'],
  ] as const) {
    const tags = { tenant }
    ids.push((await client.push({ queue: 'q', url, delay: 600, tags, payload: payload(text) })).job_id)
  }
  const [umlaut, quoted, large] = ids
  const found = async (filters: Record<string, string>) => {
    const path = `/api/jobs?${new URLSearchParams(filters).toString()}`
    const { status, body } = await client.send<JobList>('GET', path)
    expect(status).toBe(200)
    return [body.jobs.map(({ job_id }) => job_id), body.searched]
  }
  expect(await found({ tag: 'tenant:acme' })).toEqual([[umlaut, quoted], 3])
  expect(await found({ text: 'gRüße' })).toEqual([[umlaut], 3])
  expect(await found({ text: 'a/b "C' })).toEqual([[quoted], 3])
  expect(await found({ text: 'LARGE', tag: 'tenant:else' })).toEqual([[large], 3])
  // A list for a host has the newest push first.
  expect(await found({ host: '127.0.0.1', status: 'pending' })).toEqual([ids.toReversed(), 3])
  expect(await found({ host: 'example.com' })).toEqual([[], 3])
  expect(await found({ final_status: 'success', tag: 'tenant:acme' })).toEqual([[], 0])
  expect(await found({ queue: 'q', status: 'pending' })).toEqual([ids, undefined])
})
