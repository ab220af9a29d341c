import { afterAll, beforeAll, expect, test } from 'vitest'
import { until } from '../../support/until.ts'
import { openControllerWorld, type ControllerApi, type ControllerWorld } from './controller-world.ts'

let world: ControllerWorld
let api: ControllerApi

beforeAll(async () => {
  world = await openControllerWorld()
  await world.start()
  api = await world.startApi()
}, 120_000)

afterAll(() => world.close())

interface Shown {
  readonly at: string
  readonly actor: { readonly kind: string; readonly name: string }
  readonly via: string
  readonly action: string
  readonly outcome: string
  readonly resource: { readonly kind: string; readonly name: string }
  readonly before: object | null
  readonly after: object | null
}

async function send(method: string, path: string, body?: object): Promise<unknown> {
  const response = await fetch(`${api.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${api.token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  expect(response.status, `${method} ${path}`).toBeLessThan(300)
  return response.status === 204 ? null : response.json()
}

async function recordsOf(name: string): Promise<readonly Shown[]> {
  const { records } = (await send('GET', `/api/audit?resource=${name}`)) as { records: readonly Shown[] }
  return records
}

const queueId = async (name: string) => {
  const { queues } = (await send('GET', '/api/queues')) as {
    queues: Array<{ queue_id: number; name: string }>
  }
  return queues.find((queue) => queue.name === name)?.queue_id
}

test('what others write is in the audit log by their field manager, what the API writes by its token, and nothing twice', async () => {
  await world.apply('HttpQueue', 'mails', { maxParallelism: 2 })
  await until('its creation is known', async () => (await recordsOf('mails')).length === 1)
  await world.apply('HttpQueue', 'mails', { maxParallelism: 5 })
  await until('its edit is known', async () => (await recordsOf('mails')).length === 2)
  await world.reason('HttpQueue', 'mails', 'Reconciled')
  const [edit, creation] = await recordsOf('mails')
  expect(creation).toMatchObject({ action: 'create', via: 'kubectl', before: null })
  expect(edit).toMatchObject({
    action: 'edit',
    via: 'kubectl',
    outcome: 'done',
    resource: { kind: 'queue', name: 'mails' },
    before: { maxParallelism: 2 },
    after: { maxParallelism: 5 },
  })
  expect(edit?.actor.name).toBe(creation?.actor.name)

  await send('PATCH', `/api/queues/${await queueId('mails')}`, { max_parallelism: 7 })
  const [byApi] = await recordsOf('mails')
  expect(byApi).toMatchObject({
    action: 'edit',
    via: 'api',
    actor: { kind: 'token' },
    before: { max_parallelism: 5 },
    after: { max_parallelism: 7 },
  })

  await send('DELETE', `/api/queues/${await queueId('mails')}`)
  await world.apply('HttpQueue', 'others', {})
  await world.remove('HttpQueue', 'others')
  // Deletions wait for what the API writes of them, those of both queues equally long.
  await until(
    'the deletion of the other queue is known',
    async () => (await recordsOf('others')).some(({ action }) => action === 'delete'),
    40_000,
  )
  const ways = (await recordsOf('mails')).map(({ action, via }) => `${action} ${via}`)
  expect(ways).toEqual(['delete api', 'edit api', 'edit kubectl', 'create kubectl'])
}, 120_000)

test('of edits at the same time each is noted with what it found: together they are one chain', async () => {
  await world.apply('HttpQueue', 'raced', { maxParallelism: 1 })
  await world.reason('HttpQueue', 'raced', 'Reconciled')
  const id = await queueId('raced')
  const values = [2, 3, 4, 5, 6, 7]
  await Promise.all(values.map((max_parallelism) => send('PATCH', `/api/queues/${id}`, { max_parallelism })))
  const edits = (await recordsOf('raced')).filter(({ via }) => via === 'api')
  const valueIn = (fields: object | null) => (fields as { max_parallelism?: number })?.max_parallelism
  expect(new Set(edits.map(({ after }) => valueIn(after)))).toEqual(new Set(values))
  const { spec } = (await world.get('HttpQueue', 'raced')) as unknown as { spec: { maxParallelism: number } }
  // What each edit found is what another one left, but for the first and the last.
  const found = edits.map(({ before }) => valueIn(before))
  expect(new Set(found)).toEqual(new Set([1, ...values.filter((value) => value !== spec.maxParallelism)]))
  expect(edits.flatMap(({ after }) => Object.keys(after ?? {}))).toEqual(values.map(() => 'max_parallelism'))
}, 60_000)
